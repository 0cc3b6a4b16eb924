"""The levels of Adult, as published and as DiCE groups them."""

GROUPS = {
    "workclass": {
        "Government": ("Federal-gov", "State-gov", "Local-gov"),
        "Self-Employed": ("Self-emp-inc", "Self-emp-not-inc"),
        "Other/Unknown": ("Without-pay", "Never-worked", "?"),
    },
    "education": {
        "Assoc": ("Assoc-voc", "Assoc-acdm"),
        "School": (
            "Preschool",
            "1st-4th",
            "5th-6th",
            "7th-8th",
            "9th",
            "10th",
            "11th",
            "12th",
        ),
    },
    "marital_status": {
        "Married": ("Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"),
        "Single": ("Never-married",),
    },
    "occupation": {
        "White-Collar": ("Adm-clerical", "Exec-managerial"),
        "Blue-Collar": (
            "Craft-repair",
            "Farming-fishing",
            "Handlers-cleaners",
            "Machine-op-inspct",
            "Transport-moving",
        ),
        "Service": ("Other-service", "Priv-house-serv", "Protective-serv", "Tech-support"),
        "Professional": ("Prof-specialty",),
        "Other/Unknown": ("Armed-Forces", "?"),
    },
}

GROUPED = {
    "workclass": ("Private", "Government", "Self-Employed", "Other/Unknown"),
    "education": (
        "School",
        "HS-grad",
        "Some-college",
        "Assoc",
        "Bachelors",
        "Masters",
        "Prof-school",
        "Doctorate",
    ),
    "marital_status": ("Single", "Married", "Divorced", "Separated", "Widowed"),
    "occupation": (
        "White-Collar",
        "Blue-Collar",
        "Service",
        "Professional",
        "Sales",
        "Other/Unknown",
    ),
}

RAW = {
    "workclass": (
        "Private",
        "Self-emp-not-inc",
        "Self-emp-inc",
        "Federal-gov",
        "Local-gov",
        "State-gov",
        "Without-pay",
        "Never-worked",
    ),
    "education": (  # by education_num
        "Preschool",
        "1st-4th",
        "5th-6th",
        "7th-8th",
        "9th",
        "10th",
        "11th",
        "12th",
        "HS-grad",
        "Some-college",
        "Assoc-voc",
        "Assoc-acdm",
        "Bachelors",
        "Masters",
        "Prof-school",
        "Doctorate",
    ),
    "marital_status": (
        "Married-civ-spouse",
        "Divorced",
        "Never-married",
        "Separated",
        "Widowed",
        "Married-spouse-absent",
        "Married-AF-spouse",
    ),
    "occupation": (
        "Tech-support",
        "Craft-repair",
        "Other-service",
        "Sales",
        "Exec-managerial",
        "Prof-specialty",
        "Handlers-cleaners",
        "Machine-op-inspct",
        "Adm-clerical",
        "Farming-fishing",
        "Transport-moving",
        "Priv-house-serv",
        "Protective-serv",
        "Armed-Forces",
    ),
    "relationship": (
        "Wife",
        "Own-child",
        "Husband",
        "Not-in-family",
        "Other-relative",
        "Unmarried",
    ),
    "race": ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
}

_COUNTRIES = """
    United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India
    Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam
    Mexico Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia
    Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru
    Hong Holand-Netherlands
"""
COUNTRIES = tuple(_COUNTRIES.split())
