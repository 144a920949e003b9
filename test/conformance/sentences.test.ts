// The list of the spec's sentences is whole: each has a test that exists, or a reason why there is none.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sentences } from './sentences.ts'
import { cases } from './spec/cases.ts'
import { specEndpoints } from './spec/endpoints.ts'

const root = join(import.meta.dirname, '../..')

describe('the sentences of the spec', () => {
  it('each have a test, or say why not', () => {
    const bare = sentences.filter(
      ({ tests, chosen, open }) => tests.length === 0 && chosen === undefined && open === undefined,
    )
    expect(bare.map(({ section, says }) => `${section}: ${says}`)).toEqual([])
  })

  it('name tests that are there', async () => {
    const files = new Map<string, string>()
    const absent = new Set<string>()
    for (const { file, title } of sentences.flatMap(({ tests }) => tests)) {
      const text = files.get(file) ?? (await readFile(join(root, file), 'utf8'))
      files.set(file, text)
      const isThere = [`'${title}'`, `"${title}"`].some((quoted) => text.includes(quoted))
      if (!isThere) absent.add(`${file}: ${title}`)
    }
    expect([...absent]).toEqual([])
  })

  it('name no test that is skipped', async () => {
    for (const file of new Set(sentences.flatMap(({ tests }) => tests.map((one) => one.file))))
      expect(await readFile(join(root, file), 'utf8'), file).not.toMatch(
        /\b(it|describe)\.(skip|todo|only)\b/,
      )
  })

  it('are said once', () => {
    const said = sentences.map(({ section, says }) => `${section}: ${says}`)
    expect(said.filter((one, index) => said.indexOf(one) !== index)).toEqual([])
  })

  it('have a case for no endpoint or status that the spec does not list', () => {
    const listed = new Map(
      specEndpoints.map(({ endpoint, success, errors }) => [endpoint, [success, ...errors]]),
    )
    const stray = Object.entries(cases).flatMap(([endpoint, reach]) =>
      Object.keys(reach)
        .filter((status) => listed.get(endpoint)?.includes(Number(status)) !== true)
        .map((status) => `${endpoint} ${status}`),
    )
    expect(stray).toEqual([])
  })
})
