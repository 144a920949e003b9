// Finds what each start would load although only its first use needs it.
import { dirname, posix } from 'node:path'
import { packagesOfFirstUse } from './rooms.ts'
import type { Source } from './sources.ts'

// Types are gone by the time the code runs, and import() is for the first use.
const loadingForms = /(?:^|\n)\s*(?:import|export)\s+(?!type\b)(?:[^'"`;]*?\sfrom\s+)?'([^']+)'/g

/** One sentence for each import of such a package in a source that `src/app.ts` loads, itself or through others. */
export function startFaults(sources: readonly Source[]): readonly string[] {
  const loads = new Map(sources.map(({ path, text }) => [path, loadedBy(path, text)]))
  const reached = new Set<string>()
  const ahead = ['src/app.ts']
  for (let path = ahead.pop(); path !== undefined; path = ahead.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    ahead.push(...(loads.get(path) ?? []))
  }
  return [...reached].flatMap((path) =>
    (loads.get(path) ?? []).filter(isOfFirstUse).map((name) => sentence(path, name)),
  )
}

function loadedBy(path: string, text: string): readonly string[] {
  return Array.from(text.matchAll(loadingForms), ([, name = '']) =>
    name.startsWith('.') ? posix.join(dirname(path), name) : name,
  )
}

function isOfFirstUse(name: string): boolean {
  return packagesOfFirstUse.some((one) => name === one || name.startsWith(`${one}/`))
}

function sentence(path: string, name: string): string {
  return `${path} imports ${name}, and each start loads it: use import() at the first use (scripts/house/rooms.ts)`
}
