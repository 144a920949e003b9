import { describe, expect, it } from 'vitest'
import { failureFields, reasonFields } from '../../../test/support/reason-fields.ts'
import {
  answer,
  rest,
  runVerbs,
  verb,
  type RunningCall,
} from '../../../test/support/scripted-engine/script.ts'
import { account, callRequest, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { placeOn } from '../../../test/support/scripted-engine/place-on.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import type { ScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { AppError, entryOf } from '../../lib/errors.ts'
import { createLogger, type LogLevel } from '../../lib/log.ts'
import type { RunnableVerb } from '../verb/verb.ts'

const early = verb('early', () => undefined, { needs: 'audio', isEarlyMedia: true })
const speaks = verb('speaks', (can, { signal }) =>
  can.voice.say({ texts: ['hello'], voice: {}, rounds: Infinity, signal }),
)
const collects = verb('collects', (can, { signal }) => {
  const rules = { takesDigits: true, timeoutMs: 0, listensDuringPrompt: true, stopsPrompt: true }
  return can.digits.collect({ rules, signal })
})
const asks = verb('asks', (can, { signal }) => can.hooks.ask('/action', {}, signal))

/** The states in which a call waits, and the verbs that lead to each. */
const unanswered: readonly (readonly [string, readonly RunnableVerb[] | undefined])[] = [
  ['while its application is asked', undefined],
  ['while a verb runs before the answer', [rest]],
  ['in early media', [early, rest]],
]
const answered: readonly (readonly [string, readonly RunnableVerb[]])[] = [
  ['while a verb speaks', [answer, speaks]],
  ['while a verb waits for keys', [answer, collects]],
  ['while an action hook is asked', [answer, asks, rest]],
  ['while a verb rests', [answer, rest]],
]

/** A call in a state. `verbs` undefined: the call hook does not answer. */
function upWith(verbs: readonly RunnableVerb[] | undefined): Promise<RunningCall> {
  return runVerbs(verbs ?? [], {
    before({ hooks }) {
      if (verbs === undefined) hooks.answers.set('/call', heldAnswer().answer)
      hooks.answers.set('/action', heldAnswer().answer)
    },
  })
}

function isOver({ engine }: Pick<RunningCall, 'engine'>): void {
  expect(engine.store.records).toHaveLength(1)
  expect(engine.calls.liveCount).toBe(0)
  expect(engine.media.openSessions).toBe(0)
  expect(engine.lent.size).toBe(0)
  expect(engine.clock.pending).toBe(0)
}

describe('a caller who hangs up', () => {
  it.each(unanswered)('%s has abandoned the call, and nothing is left of it', async (_, verbs) => {
    const call = await upWith(verbs)
    call.invite.cancel()
    await settle()
    expect(call.engine.store.records).toMatchObject([
      { answered: false, sip_status: 487, duration: 0, termination_reason: 'caller abandoned' },
    ])
    expect(call.engine.store.notifications.at(-1)).toMatchObject({
      call_status: 'no-answer',
      call_termination_by: 'caller',
    })
    isOver(call)
  })

  it('has not abandoned a call whose provisional response it never acknowledged: journal, record, hook and log say so', async () => {
    const lines: object[] = []
    const write = (line: string) => void lines.push(JSON.parse(line) as object)
    const call = await runVerbs([rest], { options: { log: createLogger('info', { write }) } })
    const sentence = 'No PRACK came'
    call.invite.unconfirmed({ status: 504, headers: [{ name: 'x-reason', value: sentence }] })
    await settle()
    const failure = { code: 'sip_not_acknowledged', sentence, cure: entryOf('sip_not_acknowledged').cure }
    expect(call.journalled('refusal')).toMatchObject([{ ...failure, sip_status: 504 }])
    expect(call.engine.store.records).toMatchObject([
      { answered: false, sip_status: 504, termination_reason: `failed: ${sentence}` },
    ])
    expect(call.engine.store.notifications.at(-1)).toMatchObject({
      call_status: 'failed',
      sip_status: 504,
      call_termination_by: 'jambonz',
      failure,
    })
    expect(lines.at(-1)).toMatchObject({ msg: 'call ended', code: failure.code, sip_status: 504 })
    isOver(call)
  })

  it.each(answered)('%s ends the call as completed, and nothing is left of it', async (_, verbs) => {
    const call = await upWith(verbs)
    call.engine.clock.advance(7900)
    call.dialog().hangUp()
    await settle()
    expect(call.engine.store.records).toMatchObject([
      { answered: true, sip_status: 200, duration: 7, termination_reason: 'caller hungup' },
    ])
    expect(call.engine.store.statuses).toEqual(['trying', 'in-progress', 'completed'])
    expect(call.dialog().sentBye).toBeUndefined()
    isOver(call)
  })
})

describe('a platform that hangs up', () => {
  it.each(unanswered)('%s refuses the call with its reason', async (_, verbs) => {
    const call = await upWith(verbs)
    await call.engine.calls.hangUpAll('maintenance')
    await settle()
    expect(call.invite.final).toMatchObject({
      status: 503,
      headers: failureFields('stopping', 'maintenance'),
    })
    expect(call.engine.store.records).toMatchObject([{ sip_status: 503, termination_reason: 'failed' }])
    isOver(call)
  })

  it.each(answered)('%s says goodbye with its reason', async (_, verbs) => {
    const call = await upWith(verbs)
    await call.engine.calls.hangUpAll('maintenance')
    await settle()
    expect(call.dialog().sentBye).toEqual(failureFields('stopping', 'maintenance'))
    expect(call.engine.store.records).toMatchObject([{ termination_reason: 'called party hungup' }])
    isOver(call)
  })
})

describe('media that is lost', () => {
  it.each([
    ['wrong-certificate', 'the certificate of the media handshake is not the one that the SDP names'],
    ['consent-lost', 'the far end no longer answers on its media path: it has ended, or its network is gone'],
  ] as const)('with the path of a browser (%s) ends the call for its reason', async (loss, sentence) => {
    const call = await upWith([answer, rest])
    call.engine.media.sessions[0]?.emit({ type: 'path-lost', loss })
    await settle()
    expect(call.dialog().sentBye).toEqual(failureFields('media_path_lost', sentence))
    expect(call.journalled('refusal')).toMatchObject([{ code: 'media_path_lost', sentence }])
    isOver(call)
  })

  it.each(answered)('%s ends the call, and the journal has the cure', async (_, verbs) => {
    const call = await upWith(verbs)
    call.engine.media.sessions[0]?.emit({ type: 'lost' })
    await settle()
    expect(call.dialog().sentBye).toEqual(failureFields('media_lost', 'media server failure'))
    expect(call.journalled('refusal')).toMatchObject([{ code: 'media_lost' }])
    expect(call.engine.store.records).toMatchObject([{ termination_reason: 'failed: media server failure' }])
    isOver(call)
  })

  it('in early media refuses the call', async () => {
    const call = await upWith([early, rest])
    call.engine.media.sessions[0]?.emit({ type: 'lost' })
    await settle()
    expect(call.invite.final?.status).toBeGreaterThanOrEqual(500)
    expect(call.engine.store.records).toMatchObject([
      { answered: false, termination_reason: 'failed: media server failure' },
    ])
    isOver(call)
  })
})

describe('early media', () => {
  it('is reported with its status, once', async () => {
    const { engine } = await runVerbs([early, early, rest])
    expect(engine.store.notifications).toMatchObject([
      { call_status: 'trying', sip_status: 100, sip_reason: 'Trying' },
      { call_status: 'early-media', sip_status: 183, sip_reason: 'Session Progress' },
    ])
  })

  it('keeps the caller from being sent ringing afterwards', async () => {
    const { invite, engine } = await runVerbs([early, rest], { options: { ringingMs: 2000 } })
    engine.clock.advance(2000)
    expect(invite.provisionals.map(({ status }) => status)).toEqual([183])
  })

  it('that comes too late for its caller is not sent', async () => {
    const opened = Promise.withResolvers<void>()
    const { invite, engine } = await runVerbs([early, rest], {
      before: (scripted) => slowly(scripted, opened),
    })
    invite.cancel()
    opened.resolve()
    await settle()
    expect(invite.provisionals).toEqual([])
    isOver({ engine })
  })
})

/** Makes media open only once `opened` has resolved. */
function slowly({ media }: ScriptedEngine, opened: PromiseWithResolvers<void>): void {
  const open = media.open.bind(media)
  media.open = async (options) => {
    await opened.promise
    return open(options)
  }
}

describe('an answer', () => {
  it('carries our SDP, and is reported with its status', async () => {
    const { engine, invite } = await runVerbs([answer, rest])
    expect(invite.accepted).toEqual({ body: { type: 'application/sdp', content: 'v=0 answer' } })
    expect(engine.store.notifications.at(-1)).toMatchObject({
      call_status: 'in-progress',
      sip_status: 200,
      sip_reason: 'OK',
    })
  })

  it('that comes too late for its caller is not sent, and its port is free', async () => {
    const opened = Promise.withResolvers<void>()
    const { invite, engine } = await runVerbs([answer, rest], {
      before: (scripted) => slowly(scripted, opened),
    })
    invite.cancel()
    opened.resolve()
    await settle()
    expect(invite.dialog).toBeUndefined()
    isOver({ engine })
  })

  it('for which there is no port is a refusal', async () => {
    const error = new AppError('no_media_port', 'no RTP port is free')
    const call = await runVerbs([answer, rest], {
      before: ({ media }) => (media.failure = { at: 'open', error }),
    })
    expect(call.invite.final).toMatchObject({ status: 503 })
    isOver(call)
  })
})

describe('a limit in time', () => {
  it('ends a call that is never answered, with its reason in the journal', async () => {
    const call = await runVerbs([rest], { options: { maxCallMs: 600_000 } })
    call.engine.clock.advance(600_000)
    await settle()
    expect(call.invite.final).toMatchObject({
      status: 503,
      headers: [
        ...reasonFields('call_duration_limit', 'Max Call Duration'),
        { name: 'reason', value: 'Q.850;cause=102;text="Max Call Duration"' },
      ],
    })
    expect(call.journalled('decision').at(-1)).toMatchObject({
      rule: 'time-limit',
      outcome: 'Max Call Duration',
    })
    isOver(call)
  })

  it('counts from the answer', async () => {
    const waits = verb('waits', (can, { signal }) => can.time.wait(500_000, signal))
    const call = await runVerbs([waits, answer, rest], { options: { maxCallMs: 600_000 } })
    call.engine.clock.advance(500_000)
    await settle()
    call.engine.clock.advance(599_999)
    await settle()
    expect(call.dialog().sentBye).toBeUndefined()
    call.engine.clock.advance(1)
    await settle()
    expect(call.engine.store.records).toMatchObject([{ duration: 600 }])
    isOver(call)
  })
})

describe('an end', () => {
  it('whose BYE fails is logged, and is an end all the same', async () => {
    const { log, lines } = logAt('warn')
    const call = await runVerbs([answer, rest], { options: { log } })
    call.dialog().bye = () => Promise.reject(new Error('the connection is gone'))
    await call.engine.calls.hangUp(account.account_sid, call.call_sid)
    await settle()
    expect(lines).toMatchObject([
      { msg: 'BYE failed', call_sid: call.call_sid, err: { message: 'the connection is gone' } },
    ])
    isOver(call)
  })

  it('is logged with what the call ended as, as its beginning was', async () => {
    const { log, lines } = logAt('info')
    const call = await runVerbs([answer, rest], { options: { log } })
    call.engine.clock.advance(3000)
    call.dialog().hangUp()
    await settle()
    const { call_sid } = call
    const { account_sid } = account
    expect(lines).toMatchObject([
      {
        msg: 'call began',
        call_sid,
        account_sid,
        from: '+4420',
        to: expect.stringContaining('app-') as string,
      },
      {
        msg: 'call ended',
        call_sid,
        call_status: 'completed',
        sip_status: 200,
        duration: 3,
        termination_reason: 'caller hungup',
      },
    ])
  })

  it('by a far end that answers when the platform has given the call up is a BYE', async () => {
    const { engine } = await runVerbs([rest])
    engine.phones.set(phone.aor, [phone])
    const { call_sid } = await placeOn(engine, callRequest)
    const [invite] = engine.sent
    // The CANCEL crosses the 200 on the wire.
    if (invite !== undefined) invite.cancel = () => invite.answer()
    await engine.calls.hangUp(account.account_sid, call_sid)
    await settle()
    expect(invite?.dialog.sentBye).toBeDefined()
    expect(engine.store.records).toMatchObject([{ answered: false, sip_status: 487 }])
  })
})

function logAt(level: LogLevel) {
  const lines: unknown[] = []
  return { lines, log: createLogger(level, { write: (line) => void lines.push(JSON.parse(line)) }) }
}
