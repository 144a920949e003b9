// The two applications over WebSocket audio, with a real phone that hears itself.
import { afterAll, describe, expect, it } from 'vitest'
import { happens, startExample, type ExampleRun } from '../test/support/example-run.ts'
import { sharedPlatform } from '../test/support/platform-process.ts'
import { durationMs, slice, toneSegments, toneShare } from '../test/support/audio.ts'
import { isMissing } from '../test/support/tools.ts'
import { until } from '../test/support/wait.ts'

describe.skipIf(isMissing('baresip'))('an application over WebSocket audio', () => {
  const runs: ExampleRun[] = []
  afterAll(() => Promise.all(runs.map((run) => run.close())))

  async function start(name: string): Promise<ExampleRun> {
    const run = await startExample(name, await sharedPlatform())
    runs.push(run)
    return run
  }

  it('echoes: the phone hears its own tone until it presses the key', async () => {
    const run = await start('echo')
    const anna = await run.phone('anna', { hz: 700 })
    await anna.dial(`sip:500@${run.shown('domain')}`)
    const established = await happens(anna, 'CALL_ESTABLISHED')
    await until(
      'two seconds of its own tone',
      async () => {
        const heard = await anna.heard()
        const last = slice(heard, durationMs(heard) - 2000, durationMs(heard))
        return durationMs(last) >= 2000 && toneShare(last, 700) > 0.98
      },
      { everyMs: 200 },
    )
    await anna.press('#')
    await happens(anna, 'CALL_CLOSED', established)
    await run.process.lines.next('the end of it', (line) => line.includes('POST /heard'))
  }, 90_000)

  it('records: the phone hears a beep, and what it has said when it presses a key', async () => {
    const run = await start('record-me')
    const anna = await run.phone('anna', { hz: 700 })
    await anna.dial(`sip:500@${run.shown('domain')}`)
    const established = await happens(anna, 'CALL_ESTABLISHED')
    await until('the beep', async () => toneSegments(await anna.heard(), 1000).length > 0, { everyMs: 200 })
    expect(toneSegments(await anna.heard(), 700)).toEqual([])
    await anna.press('#')
    await until('what it has said', async () => toneSegments(await anna.heard(), 700).length > 0, {
      everyMs: 200,
    })
    await happens(anna, 'CALL_CLOSED', established)
  }, 90_000)
})
