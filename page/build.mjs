// npm install && npm run build: write the two bundles and their licences into the package.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const folder = "../src/proce/server/page/vendor";
const bundled = new Set();
for (const name of ["interface", "graph"]) {
  const { metafile } = await build({
    entryPoints: [`${name}.js`],
    outfile: `${folder}/${name}.js`,
    bundle: true,
    format: "esm",
    minify: true,
    legalComments: "none",
    metafile: true,
    target: "es2022",
  });
  for (const input of Object.keys(metafile.inputs)) {
    const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input);
    if (found) bundled.add(found[1]);
  }
}
const texts = [...bundled].sort().map((name) => {
  const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`));
  const file = readdirSync(`node_modules/${name}`).find((entry) => /^licen[sc]e/i.test(entry));
  const text = readFileSync(`node_modules/${name}/${file}`, "utf-8").trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
});
writeFileSync(`${folder}/LICENSES.txt`, texts.join(`\n${"-".repeat(72)}\n\n`));
