// Real requests and replies of each route, recorded by a test: `npm run docs` writes the file.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Example {
  /** The body that was sent. */
  readonly request?: unknown
  readonly reply?: unknown
}

/** The examples by operationId. */
export type Examples = Readonly<Record<string, Example>>

export const examplesFile = join(import.meta.dirname, 'examples.json')

export function readExamples(): Examples {
  return JSON.parse(readFileSync(examplesFile, 'utf8')) as Examples
}
