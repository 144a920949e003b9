import { describe, expect, it } from 'vitest'
import { failureFields } from '../../../test/support/reason-fields.ts'
import { answer, rest, runVerbs, verb } from '../../../test/support/scripted-engine/script.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import type { ScriptedSession } from '../../../test/support/scripted-engine/scripted-media.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { AppError, entryOf, type ErrorCode } from '../../lib/errors.ts'
import { createLogger } from '../../lib/log.ts'
import type { DialogFailure } from '../../sip/sip.ts'
import type { Collected } from '../digits/digit-collector.ts'

async function up(verbs = [answer, rest]) {
  const call = await runVerbs(verbs)
  const session = (): ScriptedSession => {
    const [first] = call.engine.media.sessions
    if (first === undefined) throw new Error('the call has no media')
    return first
  }
  return { ...call, session, far: call.dialog().listener }
}

const sdp = { type: 'application/sdp', content: 'v=0 answer' }

describe('an offer within a call', () => {
  it.each(['INVITE', 'UPDATE'])('of a %s is answered, and is a sign of life', async (method) => {
    const { far, session } = await up()
    const before = session().signsOfLife
    expect(await far.offered('v=0 theirs', sipRequest(method))).toEqual({ status: 200, body: sdp })
    expect(session().offers.at(-1)).toBe('v=0 theirs')
    expect(session().signsOfLife).toBe(before + 1)
  })

  it('that is missing in an INVITE is made by us, and answered by the ACK', async () => {
    const { far, session } = await up()
    expect(await far.offered(undefined, sipRequest('INVITE'))).toEqual({
      status: 200,
      body: { ...sdp, content: 'v=0 offer' },
    })
    far.confirmed(sipRequest('ACK', { type: 'application/sdp', body: 'v=0 theirs' }))
    await settle()
    expect(session().answers).toEqual(['v=0 theirs'])
  })

  it('from here that refreshes the session has an answer that counts: the far end may have moved', async () => {
    const { far, session } = await up()
    const before = session().signsOfLife
    far.refreshed?.('v=0 moved')
    await settle()
    expect(session().answers).toEqual(['v=0 moved'])
    expect(session().signsOfLife).toBe(before + 1)
  })

  it('from here that refreshes the session leaves the call up when its answer does not fit', async () => {
    const { far, session, journalled, engine } = await up()
    session().acceptAnswer = () => Promise.reject(new AppError('media_not_acceptable', 'it fits nothing'))
    far.refreshed?.('v=0 odd')
    await settle()
    expect(journalled('problem')).toMatchObject([{ code: 'media_not_acceptable' }])
    expect(engine.calls.liveCount).toBe(1)
  })

  it('that is missing in an UPDATE asks for nothing, and is a sign of life', async () => {
    const { far, session } = await up()
    const before = session().signsOfLife
    expect(await far.offered(undefined, sipRequest('UPDATE'))).toEqual({ status: 200 })
    expect(session().signsOfLife).toBe(before + 1)
  })

  it('that does not fit is refused with 488 and a problem, and the call goes on as it was', async () => {
    const { far, session, journalled, engine } = await up()
    session().answer = () =>
      Promise.reject(new AppError('media_not_acceptable', 'the far end offers video alone'))
    const reply = await far.offered('v=0 video', sipRequest('INVITE'))
    expect(reply).toMatchObject({ status: 488 })
    expect(reply.headers).toContainEqual({ name: 'x-reason', value: 'the far end offers video alone' })
    await settle()
    expect(journalled('problem')).toMatchObject([
      { code: 'media_not_acceptable', sentence: 'the far end offers video alone' },
    ])
    expect(engine.calls.liveCount).toBe(1)
  })

  it('that meets a bug of the platform is refused with 500, without its text', async () => {
    const { far, session, engine } = await up()
    session().answer = () => Promise.reject(new TypeError('x is not a function'))
    const reply = await far.offered('v=0', sipRequest('INVITE'))
    expect(reply.status).toBe(500)
    expect(JSON.stringify(reply)).not.toContain('not a function')
    expect(engine.calls.liveCount).toBe(1)
  })

  it('to hold the call and to take it back is written down, and the running verb goes on', async () => {
    const { far, session, journalled, outcomes } = await up()
    session().isHeld = true
    await far.offered('v=0 sendonly', sipRequest('INVITE'))
    session().isHeld = false
    await far.offered('v=0 sendrecv', sipRequest('INVITE'))
    await settle()
    expect([...journalled('media-held'), ...journalled('media-resumed')]).toHaveLength(2)
    expect(outcomes()).toEqual(['answer done'])
  })

  it('for which the ACK brings no answer ends the call with X-Reason', async () => {
    const { far, dialog, engine } = await up()
    await far.offered(undefined, sipRequest('INVITE'))
    far.confirmed(sipRequest('ACK'))
    await settle()
    expect(dialog().sentBye).toEqual(
      failureFields('media_not_acceptable', 'the far end did not answer the offer'),
    )
    expect(engine.store.records).toMatchObject([
      { answered: true, termination_reason: 'failed: the far end did not answer the offer' },
    ])
  })
})

describe('a request within a call', () => {
  it.each([
    ['OPTIONS', { status: 200 }],
    ['INFO', { status: 200 }],
    ['REFER', { status: 501, headers: [{ name: 'x-reason', value: 'REFER within a call is not served' }] }],
    ['MESSAGE', { status: 405 }],
  ])('%s has its response, is a sign of life, and the call goes on', async (method, expected) => {
    const { far, session, engine } = await up()
    const before = session().signsOfLife
    expect(await far.requested(sipRequest(method))).toEqual(expected)
    expect(session().signsOfLife).toBe(before + 1)
    expect(engine.calls.liveCount).toBe(1)
  })

  it.each([
    ['Signal=7\r\nDuration=250', '7', 250],
    ['Signal=10', '*', 160],
    ['Signal=11\r\nDuration=999999', '#', 10_000],
  ])('INFO with %j is a key in the journal', async (body, digit, duration_ms) => {
    const { far, journalled } = await up()
    await far.requested(sipRequest('INFO', { type: 'application/dtmf-relay', body }))
    await settle()
    expect(journalled('digit')).toMatchObject([{ digit, duration_ms, source: 'info' }])
  })

  it.each([
    ['application/dtmf-relay', 'Duration=250'],
    ['application/dtmf-relay', 'Signal=flash'],
    ['application/media_control+xml', 'Signal=5'],
  ])('INFO of type %s with %j presses no key', async (type, body) => {
    const { far, journalled } = await up()
    expect(await far.requested(sipRequest('INFO', { type, body }))).toEqual({ status: 200 })
    await settle()
    expect(journalled('digit')).toEqual([])
  })
})

describe('INFO before the answer', () => {
  const key = sipRequest('INFO', { type: 'application/dtmf-relay', body: 'Signal=5\r\nDuration=200' })
  const rules = {
    takesDigits: true,
    numDigits: 1,
    timeoutMs: 0,
    listensDuringPrompt: true,
    stopsPrompt: true,
  }

  async function ask() {
    const collected: Collected[] = []
    const collect = verb(
      'collect',
      async (can, { signal }) => void collected.push(await can.digits.collect({ rules, signal })),
      { needs: 'audio', isEarlyMedia: true },
    )
    return { ...(await runVerbs([collect, rest])), collected }
  }

  it('is a key of the question that the caller hears in early media', async () => {
    const { invite, journalled, collected } = await ask()
    expect(invite.provisionals).toMatchObject([{ status: 183 }])
    expect(await invite.early?.requested?.(key)).toEqual({ status: 200 })
    await settle()
    expect(collected).toEqual([{ reason: 'digits', digits: '5' }])
    expect(journalled('digit')).toMatchObject([{ digit: '5', duration_ms: 200, source: 'info' }])
    expect(invite.isOpen).toBe(true)
  })

  it('that has no key is accepted, and is a sign of life', async () => {
    const { invite, journalled, engine } = await ask()
    const before = engine.media.sessions[0]?.signsOfLife ?? 0
    const info = sipRequest('INFO', { type: 'application/media_control+xml', body: 'Signal=5' })
    expect(await invite.early?.requested?.(info)).toEqual({ status: 200 })
    await settle()
    expect(journalled('digit')).toEqual([])
    expect(engine.media.sessions[0]?.signsOfLife).toBe(before + 1)
  })
})

describe('a dialog that the stack has given up', () => {
  it.each<[DialogFailure, ErrorCode, RegExp]>([
    ['ack-timeout', 'sip_not_acknowledged', /^no ACK came .*<sip:app@203\.0\.113\.1:5060>$/],
    ['prack-timeout', 'sip_not_acknowledged', /^no PRACK came/],
    ['transport-error', 'sip_dialog_lost', /did not respond/],
    ['session-expired', 'sip_dialog_lost', /Session-Expires/],
  ])('for %s says %s in BYE, status hook, record, journal and log', async (reason, code, words) => {
    const lines: object[] = []
    const write = (line: string) => void lines.push(JSON.parse(line) as object)
    const call = await runVerbs([answer, rest], { options: { log: createLogger('info', { write }) } })
    call.dialog().fail(reason)
    await settle()
    expect(call.journalled('decision')).toContainEqual(
      expect.objectContaining({ rule: 'dialog-lost', outcome: reason }),
    )
    const cure =
      reason === 'ack-timeout' ? expect.stringContaining('SWITCHHOOK_PUBLIC_ADDRESS') : entryOf(code).cure
    const sentence = call.dialog().sentBye?.find(({ name }) => name === 'x-reason')?.value ?? ''
    expect(sentence).toMatch(words)
    expect(call.journalled('refusal')).toMatchObject([{ code, sentence, cure }])
    expect(call.engine.store.notifications.at(-1)).toMatchObject({
      call_status: 'completed',
      call_termination_by: 'jambonz',
      failure: { code, sentence, cure },
    })
    expect(call.engine.store.records).toMatchObject([{ termination_reason: `failed: ${sentence}` }])
    expect(lines.at(-1)).toMatchObject({ msg: 'call ended', code, because: sentence, cure })
  })
})

describe('keys', () => {
  it('after the end of the call are ignored', async () => {
    const heard: string[] = []
    const listens = verb('listens', async (can, { signal }) => {
      const rules = { takesDigits: true, timeoutMs: 0, listensDuringPrompt: true, stopsPrompt: true }
      heard.push((await can.digits.collect({ rules, signal })).reason)
    })
    const { dialog, session, journalled } = await up([answer, listens])
    const keys = session()
    dialog().hangUp()
    keys.press('5')
    await settle()
    expect(heard).toEqual(['stopped'])
    expect(journalled('digit')).toEqual([])
  })
})
