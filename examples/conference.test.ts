// The conference with three real phones: two wait, the third begins it, each hears only the others, all leave with it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Baresip } from '../test/support/baresip.ts'
import {
  durationMs,
  rms,
  slice,
  soundSegments,
  toneSegments,
  toneShare,
  type Audio,
} from '../test/support/audio.ts'
import { happens, startExample, type ExampleRun } from '../test/support/example-run.ts'
import { sharedPlatform } from '../test/support/platform-process.ts'
import { isMissing } from '../test/support/tools.ts'
import { until } from '../test/support/wait.ts'
import { waitingHz } from './conference.ts'

const users = ['moderator', 'anna', 'ben'] as const
const pitches = [700, 1100, 1600] as const

/** Returns the last half second: the beep for the phone that joined is over by then. */
const lately = (audio: Audio): Audio => slice(audio, durationMs(audio) - 500, durationMs(audio))

/** Returns the pitches of the phones that are heard, if nothing else is. */
function heardIn(audio: Audio): readonly number[] {
  const last = lately(audio)
  if (rms(last) < 0.05) return []
  const heard = pitches.filter((hz) => toneShare(last, hz) > 0.2)
  const all = pitches.reduce((sum, hz) => sum + toneShare(last, hz), 0)
  return all > 0.9 ? heard : []
}

describe.skipIf(isMissing('baresip'))('npm run example -- conference', () => {
  let run: ExampleRun
  let phones: Baresip[]
  beforeAll(async () => {
    run = await startExample('conference', await sharedPlatform())
    phones = await Promise.all(users.map((user, n) => run.phone(user, { hz: pitches[n] ?? 0 })))
  })
  afterAll(() => run?.close())

  it('begins with its moderator, lets each hear the other two and not itself, and ends with its moderator', async () => {
    const [moderator, anna, ben] = phones as [Baresip, Baresip, Baresip]
    const dial = async (phone: Baresip): Promise<number> => {
      await phone.dial(`sip:500@${run.shown('domain')}`)
      return happens(phone, 'CALL_ESTABLISHED')
    }
    const established = new Map<Baresip, number>()
    for (const phone of [anna, ben]) established.set(phone, await dial(phone))
    for (const phone of [anna, ben])
      await until(
        'those who wait to hear the tone for them',
        async () => toneSegments(await phone.heard(), waitingHz).length > 0,
      )
    for (const phone of [anna, ben])
      for (const hz of pitches) expect(toneSegments(await phone.heard(), hz)).toEqual([])
    established.set(moderator, await dial(moderator))
    for (const [n, phone] of phones.entries())
      await until(
        `${users[n]} to hear the other two, and not itself`,
        async () => {
          const others = pitches.filter((_, other) => other !== n)
          return JSON.stringify(heardIn(await phone.heard())) === JSON.stringify(others)
        },
        { everyMs: 200, timeoutMs: 20_000 },
      )
    for (const [n, phone] of phones.entries())
      expect(toneShare(lately(await phone.heard()), pitches[n] ?? 0)).toBeLessThan(0.01)
    await run.process.lines.next('the events of the room', (line) => line.startsWith('join: moderator (3'))
    const leftMs = durationMs(await anna.heard())
    await moderator.hangUp()
    for (const phone of [anna, ben]) await happens(phone, 'CALL_CLOSED', established.get(phone))
    const after = soundSegments(await anna.heard()).filter(({ endMs }) => endMs > leftMs + 1000)
    expect(after.at(-1)?.endMs ?? 0).toBeGreaterThan(leftMs + 1500)
    await run.process.lines.next('the end of the room', (line) => line.startsWith('end: '))
  }, 90_000)
})
