// The commands of the first page of /docs, run in order as a reader would run them.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { firstCall } from '../../src/api/docs/start-page.ts'
import { openGuideRun, type GuideRun } from './run-guide.ts'

let run: GuideRun
beforeAll(async () => {
  run = await openGuideRun('start-page')
})
afterAll(() => run?.close())

it('the first call of /docs is heard and leaves a record', async () => {
  const printed: string[] = []
  for (const { command } of firstCall) {
    const { output, status } = await run.execute(command)
    expect([command, status]).toEqual([command, 0])
    printed.push(output)
  }
  expect(printed[3]).toMatch(/hears speech\n.*the platform hangs up/)
  expect(JSON.parse(printed[4]?.slice(printed[4].indexOf('{')) ?? '')).toMatchObject({
    total: 1,
    data: [{ answered: true }],
  })
})
