// The TypeScript files of some folders with what they import, types included.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

export interface Source {
  /** From the root of the repository, with forward slashes. */
  readonly path: string
  readonly text: string
  /** Paths of files of the project, and names of packages. */
  readonly imports: readonly string[]
}

const importForms = /(?:^|\n)\s*(?:import|export)\s(?:[^'"`;]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'/g

export function readSources(root: string, folders: readonly string[]): readonly Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
      .sort()
      .map((name) => {
        const path = `${folder}/${name.replaceAll('\\', '/')}`
        const text = readFileSync(join(root, path), 'utf8')
        return { path, text, imports: importsOf(path, text) }
      }),
  )
}

/** Relative names become paths from the root of the repository; names of packages stay as they are. */
export function importsOf(path: string, text: string): readonly string[] {
  return Array.from(text.matchAll(importForms), ([, from, dynamic]) => from ?? dynamic ?? '').map((name) =>
    name.startsWith('.') ? posix.join(dirname(path), name) : name,
  )
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/')
}
