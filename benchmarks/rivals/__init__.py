"""What ProCE is compared with, written as a competent user would."""
