import { describe, expect, it } from 'vitest'
import { KeyPresses } from './key-presses.ts'
import { account } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { createScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'

type Report = [atMs: number, source: 'rtp' | 'info' | 'tone', digit: string, durationMs?: number]

function counted(reports: readonly Report[]): string {
  const keys = new KeyPresses()
  return reports
    .filter(([atMs, source, digit, durationMs = 100]) => keys.isNew({ source, digit, durationMs }, atMs))
    .map(([, , digit]) => digit)
    .join('')
}

describe('one key press is one digit', () => {
  const table: [string, Report[], string][] = [
    [
      'as RTP event, then as INFO',
      [
        [1000, 'rtp', '5'],
        [1030, 'info', '5'],
      ],
      '5',
    ],
    [
      'as INFO with the press, then as RTP event',
      [
        [1000, 'info', '5'],
        [1900, 'rtp', '5', 880],
      ],
      '5',
    ],
    [
      'as INFO with the release, then as RTP event',
      [
        [1000, 'info', '5'],
        [1040, 'rtp', '5', 500],
      ],
      '5',
    ],
    [
      'as RTP event, as INFO and as a tone',
      [
        [1000, 'rtp', '5'],
        [1010, 'info', '5'],
        [1060, 'tone', '5'],
        [1400, 'tone', '5'],
        [1410, 'rtp', '5'],
      ],
      '55',
    ],
    [
      'each of two quick ones',
      [
        [1000, 'rtp', '1'],
        [1030, 'info', '1'],
        [1150, 'rtp', '1'],
        [1180, 'info', '1'],
      ],
      '11',
    ],
    [
      'of different keys',
      [
        [1000, 'rtp', '1'],
        [1030, 'info', '1'],
        [1100, 'info', '2'],
        [1160, 'rtp', '2', 50],
      ],
      '12',
    ],
    [
      'whose INFO is late, once the phone is known to send both',
      [
        [1000, 'rtp', '1'],
        [1030, 'info', '1'],
        [3000, 'rtp', '2'],
        [4500, 'info', '2'],
      ],
      '12',
    ],
    [
      'of RTP alone, however quick',
      [
        [1000, 'rtp', '1'],
        [1050, 'rtp', '1', 20],
        [1100, 'rtp', '1', 20],
      ],
      '111',
    ],
    [
      'of INFO alone, however quick',
      [
        [1000, 'info', '1'],
        [1010, 'info', '1'],
        [1020, 'info', '1'],
      ],
      '111',
    ],
    [
      'and a later one of the other source is another',
      [
        [1000, 'rtp', '1'],
        [1201, 'info', '1'],
      ],
      '11',
    ],
    [
      'and a different key of the other source is another',
      [
        [1000, 'rtp', '1'],
        [1020, 'info', '2'],
      ],
      '12',
    ],
  ]

  it.each(table)('%s', (_, reports, expected) => {
    expect(counted(reports)).toBe(expected)
  })
})

describe('a phone that sends each key as RTP event and as INFO', () => {
  it('presses each key once, and the journal says so once', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    engine.hooks.on('/call', [{ verb: 'answer' }, { verb: 'wait', ms: 60_000 }])
    const invite = engine.ring()
    await settle()
    const info = (digit: string) =>
      sipRequest('INFO', { type: 'application/dtmf-relay', body: `Signal=${digit}\r\nDuration=100\r\n` })
    for (const digit of ['1', '2', '2']) {
      engine.media.sessions[0]?.emit({ type: 'digit', digit, durationMs: 100 })
      await invite.dialog?.listener.requested(info(digit))
      engine.clock.advance(300)
    }
    const [live] = engine.calls.list(account.account_sid)
    const journal = engine.calls.journal(account.account_sid, live?.call_sid ?? '') ?? []
    const digits = journal.flatMap((event) => (event.type === 'digit' ? [event.digit] : []))
    expect(digits).toEqual(['1', '2', '2'])
    const notes = journal.filter((event) => event.type === 'note' && event.sentence.includes('two ways'))
    expect(notes).toHaveLength(1)
  })
})
