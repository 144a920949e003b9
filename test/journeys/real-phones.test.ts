// The three kinds of real phone with each other: each holds, resumes and transfers.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { rounds, RealPhoneStage } from '../support/real-phone-stage.ts'
import { createListening } from '../support/real-phones.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

let stage: RealPhoneStage

beforeAll(async () => {
  stage = await RealPhoneStage.open()
})

afterEach(() => stage.clear())

afterAll(() => stage?.close())

describe.skipIf(isMissing('baresip', 'linphone', 'pjsua2'))('real phones', () => {
  it.each([
    ['baresip', { codecs: 'opus' }, 'OPUS', 'linphone', {}, 'OPUS'],
    ['pjsua2', { codec: 'G722' }, 'G722', 'linphone', {}, 'PCMU'],
  ] as const)(
    '%s with %o speaks %s with %s with %o, which speaks %s',
    async (kind, own, codec, other, its, theirs) => {
      const listening = createListening()
      const [called, caller] = await stage.phones(['bob', other, its], ['alice', kind, own])
      await caller.dial(stage.addressOf('bob'))
      await caller.is('talking')
      const calls = await stage.liveCalls()
      await listening.hearEachOther(caller, called)
      await caller.hangUp()
      await called.is('ended')
      await listening.settled()
      for (const call of calls) {
        const opened = (await stage.journalOf(call)).find(({ type }) => type === 'media-open')
        expect(opened).toMatchObject({ codec: call.direction === 'inbound' ? codec : theirs })
      }
    },
    60_000,
  )

  it.each(rounds)(
    '%s calls %s, holds, resumes and hangs up',
    async (kind, other) => {
      const listening = createListening()
      const [called, caller] = await stage.phones(['bob', other], ['alice', kind])
      await caller.dial(stage.addressOf('bob'))
      await caller.is('talking')
      await listening.hearEachOther(caller, called)
      await caller.hold()
      await stage.isTold('media-held', caller)
      await caller.resume()
      await stage.isTold('media-resumed', caller)
      await listening.hearEachOther(caller, called)
      await caller.hangUp()
      await called.is('ended')
      await listening.settled()
    },
    60_000,
  )

  it.each(rounds)(
    '%s transfers %s to %s blind',
    async (kind, other, third) => {
      const listening = createListening()
      const [called, target, caller] = await stage.phones(['bob', other], ['carol', third], ['alice', kind])
      await caller.dial(stage.addressOf('bob'))
      await caller.is('talking')
      await listening.hearEachOther(caller, called)
      await caller.transfer(stage.addressOf('carol'))
      await caller.is('ended')
      await listening.hearEachOther(called, target)
      await called.hangUp()
      await target.is('ended')
      await listening.settled()
    },
    60_000,
  )

  it.each([
    ['linphone', 'pjsua2'],
    ['pjsua2', 'baresip'],
  ] as const)(
    '%s deflects a call that rings there to %s',
    async (kind, third) => {
      const listening = createListening()
      const [deflecting, target, caller] = await stage.phones(
        ['bob', kind, { answers: 'manual' }],
        ['carol', third],
        ['alice', 'baresip'],
      )
      await caller.dial(stage.addressOf('bob'))
      await deflecting.is('called')
      await deflecting.deflect?.(stage.addressOf('carol'))
      await caller.is('talking')
      await listening.hearEachOther(caller, target)
      await caller.hangUp()
      await target.is('ended')
    },
    60_000,
  )

  // This version of baresip hangs up by itself once its transfer has failed.
  it.each(rounds.filter(([kind]) => kind !== 'baresip'))(
    '%s stays connected with %s when %s refuses the transferred call, and is notified of the reason',
    async (kind, other, third) => {
      // Dave is a separate user: a phone that vanished without unregistering still rings for half a minute.
      const [called, target, caller] = await stage.phones(
        ['bob', other],
        ['dave', third, { answers: 'manual' }],
        ['alice', kind],
      )
      await caller.dial(stage.addressOf('bob'))
      await caller.is('talking')
      await caller.transfer(stage.addressOf('dave'))
      await target.is('called')
      await target.hangUp()
      const leg = (await stage.liveCalls()).find(({ direction }) => direction === 'inbound')
      const story = async () => (leg === undefined ? [] : await stage.journalOf(leg))
      await until('the NOTIFY of the refusal', async () =>
        (await story()).some(
          ({ summary, raw }) => summary === 'NOTIFY' && /^SIP\/2\.0 [456]\d\d/m.test(String(raw)),
        ),
      )
      const types = (await story()).map(({ type }) => type)
      expect(types).toContain('bridged')
      expect(types).not.toContain('unbridged')
      await called.hangUp()
      await caller.is('ended')
    },
    60_000,
  )

  it('a phone may require PRACK and a session timer, on either side of a call', async () => {
    const listening = createListening()
    const [called, caller] = await stage.phones(
      ['bob', 'pjsua2', { insists: true, answers: 'manual' }],
      ['alice', 'pjsua2', { insists: true }],
    )
    const mark = called.mark()
    await caller.dial(stage.addressOf('bob'))
    await called.is('called', mark)
    await caller.is('ringing')
    await called.answer()
    await caller.is('talking')
    await listening.hearEachOther(caller, called)
    for (const one of [caller, called]) {
      await one.hold()
      await stage.isTold('media-held', one)
      await one.resume()
      await stage.isTold('media-resumed', one)
    }
    await listening.hearEachOther(caller, called)
    const calls = await stage.liveCalls()
    expect(calls).toHaveLength(2)
    for (const call of calls) {
      const events = await stage.journalOf(call)
      expect(events.filter(({ summary }) => summary === 'PRACK')).toHaveLength(1)
    }
    await caller.hangUp()
    await called.is('ended')
  }, 60_000)

  it.each(rounds)(
    '%s consults before it transfers %s to %s, and leaves the two connected',
    (...kinds) => stage.introduce(kinds),
    60_000,
  )
})
