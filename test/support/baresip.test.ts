import { afterEach, describe, expect, it } from 'vitest'
import { dominantFrequencyHz, durationMs, rms, slice, tone } from './audio.ts'
import { startBaresip, type Baresip } from './baresip.ts'
import { startSipp } from './sipp.ts'
import { isMissing } from './tools.ts'
import { until } from './wait.ts'

describe.skipIf(isMissing('baresip', 'sipp'))('the phone driver', () => {
  let phone: Baresip | undefined

  afterEach(async () => {
    await phone?.stop()
  })

  it('the phone dials, hears what the far end sends, presses digits and hangs up', async () => {
    const echo = await startSipp({ scenario: 'as-echo' })
    phone = await startBaresip({
      username: 'alice',
      password: 'unused',
      realm: 'example.test',
      proxy: { address: '127.0.0.1', port: echo.port },
      registerEvery: 0,
      says: tone(440, 30_000),
    })
    await phone.dial('sip:app-1@example.test')
    await phone.events.next('the answer', ({ type }) => type === 'CALL_ESTABLISHED')
    await phone.press('5#')
    // sipp echoes the audio, so the phone hears itself.
    for (const digit of ['5', '#'])
      await phone.events.next(
        `digit ${digit}`,
        ({ type, param }) => type === 'CALL_DTMF_START' && param === digit,
      )
    const ears = phone
    await until('a second of sound', async () => durationMs(await ears.heard()) > 1000)
    await phone.hangUp()
    await phone.events.next('the end', ({ type }) => type === 'CALL_CLOSED')
    const { code, messages, report } = await echo.finished
    expect(report).toBe('')
    expect(code).toBe(0)
    expect(messages[0]?.start).toMatch(/^INVITE sip:app-1@example\.test\b/)
    const heard = await phone.heard()
    expect(durationMs(heard)).toBeGreaterThan(1000)
    const middle = slice(heard, 100, durationMs(heard))
    expect(rms(middle)).toBeGreaterThan(0.1)
    expect(Math.abs(dominantFrequencyHz(middle) - 440)).toBeLessThanOrEqual(10)
  })
})
