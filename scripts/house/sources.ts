// The TypeScript files of some folders with what they import, types included; and the documents.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

export interface Document {
  /** From the root of the repository, with forward slashes. */
  readonly path: string
  readonly text: string
}

export interface Source extends Document {
  /** Paths of files of the project, and names of packages. */
  readonly imports: readonly string[]
}

const importForms = /(?:^|\n)\s*(?:import|export)\s(?:[^'"`;]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'/g

export function readSources(root: string, folders: readonly string[]): readonly Source[] {
  return folders.flatMap((folder) =>
    filesIn(root, folder, '.ts').map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return { path, text, imports: importsOf(path, text) }
    }),
  )
}

/** All but the history: what CHANGELOG says of released versions stays as it was. */
export function readDocuments(root: string): readonly Document[] {
  const atRoot = readdirSync(root).filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
  return [...atRoot, ...filesIn(root, 'docs', '.md')].map((path) => ({
    path,
    text: readFileSync(join(root, path), 'utf8'),
  }))
}

function filesIn(root: string, folder: string, ending: string): readonly string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .sort()
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
