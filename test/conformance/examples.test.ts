// The examples of the reference: the real requests and responses of a tour over the whole API. `npm run docs` writes
// them.
import { expect, it } from 'vitest'
import { examplesFile } from '../../src/api/openapi/examples.ts'
import { takeTour } from './api/example-tour.ts'

it('the examples of the reference are what the API accepts and responds', { timeout: 60_000 }, async () => {
  const examples = `${JSON.stringify(await takeTour(), null, 2)}\n`
  await expect(examples).toMatchFileSnapshot(examplesFile)
})
