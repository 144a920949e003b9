// A bundler of a package into one script for a page: each CommonJS file is a function that runs when first required.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const required = /\brequire\(['"]([^'"]+)['"]\)/g

/** Returns the script of the package `name`, which the page finds under `global`. */
export async function bundle(name: string, global: string): Promise<string> {
  const modules = new Map<string, { readonly code: string; readonly paths: Record<string, string> }>()
  const first = createRequire(import.meta.url).resolve(name)
  for (const ahead = [first]; ahead.length > 0;) {
    const path = ahead.pop() ?? ''
    if (modules.has(path)) continue
    const source = await readFile(path, 'utf8')
    const code = path.endsWith('.json') ? `module.exports = ${source}` : source
    const paths = Object.fromEntries(
      Array.from(code.matchAll(required), ([, wanted = '']) => [wanted, forBrowsers(wanted, path)]),
    )
    modules.set(path, { code, paths })
    ahead.push(...Object.values(paths))
  }
  const parts = Array.from(
    modules,
    ([path, { code, paths }]) =>
      `${JSON.stringify(path)}: [(module, exports, require) => {${code}\n}, ${JSON.stringify(paths)}]`,
  )
  return `(() => {
const process = { env: {} }
const modules = {${parts.join(',\n')}}
const made = {}
function load(path) {
  if (made[path]) return made[path].exports
  const module = (made[path] = { exports: {} })
  const [run, paths] = modules[path]
  run(module, module.exports, (name) => load(paths[name]))
  return module.exports
}
globalThis[${JSON.stringify(global)}] = load(${JSON.stringify(first)})
})()`
}

/** Resolves a name: to a package's file for browsers if it has one, and to a package for a name of Node's modules. */
function forBrowsers(name: string, from: string): string {
  const { resolve } = createRequire(from)
  const path = resolve(/^[a-z]+$/.test(name) ? `${name}/` : name)
  return name === 'debug' ? join(dirname(path), 'browser.js') : path
}
