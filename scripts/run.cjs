// Runs a program of this repository, or says in one sentence why it cannot: `node scripts/run.cjs src/main.ts`.
// The one file that is not TypeScript: a Node that is too old reads no types, and would print a stack instead.
'use strict'
const { existsSync, readFileSync } = require('node:fs')
const { join, resolve } = require('node:path')
const { pathToFileURL } = require('node:url')

const root = join(__dirname, '..')
const neededMajor = 24

/** Returns undefined if the program can run. */
function obstacleTo(program) {
  if (Number(process.versions.node.split('.')[0]) < neededMajor)
    return `Switchhook needs Node ${neededMajor} or later, and this is Node ${process.versions.node}. ${cureOfOldNode()}`
  const missing = missingPackages(program)
  if (missing.length === 0) return undefined
  return `Its packages are not all installed (${missing[0]} is missing). Run npm ci.`
}

function cureOfOldNode() {
  const own = ownNode()
  if (own === undefined) return `Install Node ${neededMajor} (https://nodejs.org), and then run npm ci.`
  return existsSync(join(root, 'node_modules', own, 'package.json'))
    ? 'npm ci has installed one, which npm start uses; without npm, run node_modules/.bin/node.'
    : 'Run npm ci, which installs it in this folder.'
}

/** Returns the package that brings a Node of its own for this system; undefined if there is none. */
function ownNode() {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  return name in packageFile().optionalDependencies ? name : undefined
}

/** Programs of the product need its packages only; those of the tests need the others too. */
function missingPackages(program) {
  const { dependencies, devDependencies } = packageFile()
  const isProduct = /^(src|examples)\//.test(program)
  const needed = Object.keys(isProduct ? dependencies : { ...dependencies, ...devDependencies })
  return needed.filter((name) => !existsSync(join(root, 'node_modules', name, 'package.json')))
}

function packageFile() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
}

const program = process.argv[2]
const obstacle = obstacleTo(program)
if (obstacle !== undefined) {
  process.stderr.write(`${program} cannot run: ${obstacle}\n`)
  process.exit(1)
}
// The program reads its arguments as if Node had been started with it.
process.argv.splice(1, 2, resolve(root, program))
void import(pathToFileURL(process.argv[1]).href)
