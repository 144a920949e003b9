import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { prepareDataDirectory } from './data-directory.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchhook-directory-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

describe('the data directory', () => {
  it('is made with all that it lies in, for its owner alone', async () => {
    const path = join(folder, 'new', 'below')
    expect(prepareDataDirectory(path)).toBeUndefined()
    if (platform() !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o700)
    expect(prepareDataDirectory(path)).toBeUndefined()
  })

  it('is refused by its name and setting where a file is in its place', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    for (const path of [file, join(file, 'below')])
      expect(() => prepareDataDirectory(path)).toThrow(
        new RegExp(`^The data directory ${path} cannot be written .*SWITCHHOOK_DATA_DIR`),
      )
  })

  it.skipIf(platform() !== 'linux').each(['/proc/switchhook', '/proc/switchhook/data', '/sys/switchhook'])(
    'is refused below a place that takes no directories: %s',
    (path) => {
      expect(() => prepareDataDirectory(path)).toThrow(
        new RegExp(`^The data directory ${path} cannot be written .*SWITCHHOOK_DATA_DIR`),
      )
    },
  )
})
