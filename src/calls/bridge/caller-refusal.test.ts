// The final response for a caller whose dial with answerOnBridge was the last verb.
import { describe, expect, it } from 'vitest'
import {
  bye,
  dialled,
  leftOf,
  nothing,
  type Dialled,
} from '../../../test/support/scripted-engine/dialling.ts'
import type { ScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { AppError } from '../../lib/errors.ts'
import { parseVerbs } from '../../verbs/index.ts'

const phone = { type: 'user', name: 'alice' }
const desk = { type: 'sip', sipUri: 'sip:desk@192.0.2.9' }

function dialling(
  target: object,
  after: readonly object[] = [],
  prepare?: (engine: ScriptedEngine) => void,
): Promise<Dialled> {
  return dialled(parseVerbs, {}, (engine) => {
    engine.hooks.on('/call', [
      { verb: 'dial', target: [target], answerOnBridge: true, timeout: 20 },
      ...after,
    ])
    prepare?.(engine)
  })
}

const headersOf = ({ caller }: Dialled, name: string): string[] =>
  (caller.final?.headers ?? []).flatMap((field) => (field.name === name ? [field.value] : []))

describe('a caller whose dial was the last verb', () => {
  it.each([
    [486, 486],
    [404, 404],
    [480, 480],
    [484, 484],
    [488, 488],
    [603, 603],
    [604, 604],
    [300, 480],
    [401, 502],
    [407, 502],
    [415, 480],
    [421, 480],
    [487, 480],
    [501, 500],
    [503, 500],
    [504, 504],
    [699, 603],
  ])(
    'whose called side refuses with %i gets %i, and a Reason that says what it was',
    async (status, told) => {
      const one = await dialling(desk)
      one.called().refuse(status, [{ name: 'via', value: 'SIP/2.0/UDP 192.0.2.9' }])
      await calm()
      expect(one.caller.final?.status).toBe(told)
      expect(headersOf(one, 'reason')).toEqual([
        expect.stringMatching(new RegExp(`^SIP;cause=${status};text="`)),
      ])
      expect(headersOf(one, 'x-reason')).toEqual(['the called party did not take the call'])
      const record = one.engine.store.records.find(({ direction }) => direction === 'inbound')
      expect(record).toMatchObject({ sip_status: told, failure: null })
      expect(leftOf(one)).toEqual(nothing(2))
    },
  )

  it.each([
    ['a phone, does not respond', phone, 408, 480],
    ['a SIP address, does not respond', desk, 408, 504],
    ['a SIP address, has no connection', desk, 503, 504],
  ])('whose called side, %s, gets a status of its own', async (_, target, status, told) => {
    const one = await dialling(target)
    one.called().refuse(status)
    await calm()
    expect(one.caller.final?.status).toBe(told)
    expect(headersOf(one, 'reason')).toEqual([expect.stringMatching(new RegExp(`^SIP;cause=${status};`))])
    expect(headersOf(one, 'x-reason-code')).toEqual(['sip_unreachable'])
  })

  it('that rings out gets 480', async () => {
    const one = await dialling(desk)
    one.called().progress(180)
    await calm()
    one.engine.clock.advance(20_000)
    await calm()
    expect(one.caller.final?.status).toBe(480)
  })

  it('is refused so, too, when the verb hangup follows, and not when another verb does', async () => {
    const one = await dialling(desk, [{ verb: 'hangup' }])
    one.called().refuse(486)
    await calm()
    expect(one.caller.final?.status).toBe(486)
    const other = await dialling(desk, [{ verb: 'tag', data: {} }])
    other.called().refuse(486)
    await calm()
    expect(other.caller.final?.status).toBe(603)
  })

  it('gets the refusal of the platform, with its code, where that could not call', async () => {
    const one = await dialling({ type: 'phone', number: '+15550100' })
    expect(one.caller.final?.status).toBe(603)
    expect(headersOf(one, 'x-reason-code')).toEqual(['no_carrier'])
  })
})

describe('a caller whose dial waits for the answer', () => {
  it('has its place in media before anything rings, so that an answer finds it', async () => {
    const one = await dialling(desk)
    const error = new AppError('no_media_port', 'no RTP port is free')
    expect(one.engine.media.openSessions).toBe(2)
    one.engine.media.failure = { at: 'open', error }
    one.called().answer()
    await calm()
    expect(one.caller.dialog).toBeDefined()
    expect(one.called().dialog.sentBye).toBeUndefined()
    await bye(one.caller.dialog)
    expect(leftOf(one)).toEqual(nothing(2))
  })

  it.each(['no_media_port', 'overloaded', 'account_share'] as const)(
    'is refused with 503 and Retry-After before anything rings where it has no place: %s',
    async (code) => {
      const one = await dialling(desk, [], ({ media }) => {
        media.failure = { at: 'open', error: new AppError(code, 'full') }
      })
      expect(one.engine.sent).toEqual([])
      expect(one.caller.final?.status).toBe(503)
      expect([headersOf(one, 'retry-after'), headersOf(one, 'x-reason-code')]).toEqual([['5'], [code]])
      expect(leftOf(one)).toEqual(nothing(1))
    },
  )

  it('is refused with 503 and Retry-After where the called leg has no place in media', async () => {
    const one = await dialling(desk, [], ({ media }) => {
      const open = media.open.bind(media)
      media.open = async (options) => {
        if (media.sessions.length > 0) throw new AppError('overloaded', 'full')
        return await open(options)
      }
    })
    expect(one.engine.sent).toEqual([])
    expect([one.caller.final?.status, headersOf(one, 'retry-after')]).toEqual([503, ['5']])
    expect(leftOf(one)).toEqual(nothing(2))
  })

  it('tells media its codec, so that the called leg offers it first', async () => {
    const one = await dialling(desk)
    expect(one.engine.media.opened[1]).toMatchObject({ near: one.engine.media.sessions[0]?.id })
  })
})
