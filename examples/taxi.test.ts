// The menu over WebSocket with a real phone: the pressed keys, the audio that is heard, and which side ends the call.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { soundSegments } from '../test/support/audio.ts'
import { happens, startExample, type ExampleRun } from '../test/support/example-run.ts'
import { isMissing } from '../test/support/tools.ts'
import { until } from '../test/support/wait.ts'

describe.skipIf(isMissing('baresip'))('npm run example -- taxi', () => {
  let run: ExampleRun
  beforeAll(async () => {
    run = await startExample('taxi')
  })
  afterAll(() => run?.close())

  it('lets the call wait without a verb, until it says that the taxi comes and hangs up', async () => {
    const anna = await run.phone('anna', { hz: 700 })
    await anna.dial(`sip:500@${run.shown('domain')}`)
    const established = await happens(anna, 'CALL_ESTABLISHED')
    await until('the menu to be heard', async () => soundSegments(await anna.heard()).length > 0)
    await anna.press('2')
    await happens(anna, 'CALL_CLOSED', established)
    // The caller hears the menu and "one moment", silence while the application searches, and the result.
    expect(soundSegments(await anna.heard()).length).toBeGreaterThanOrEqual(2)
  }, 60_000)

  it('takes no socket that the platform has not signed', async () => {
    const url = run.shown('The application listens at').split('. ')[0]?.replace('http', 'ws') ?? ''
    const socket = new WebSocket(`${url}/call`)
    const { promise, resolve } = Promise.withResolvers<number | undefined>()
    socket.on('error', () => undefined)
    socket.on('unexpected-response', (_, response) => {
      resolve(response.statusCode)
      response.destroy()
    })
    expect(await promise).toBe(401)
  })
})
