import { describe, expect, it } from 'vitest'
import { failureFields, timerFields } from '../../test/support/reason-fields.ts'
import { covers } from '../../test/support/covers.ts'
import { AppError, entryOf } from '../lib/errors.ts'
import { createLogger } from '../lib/log.ts'
import type { JournalEvent } from './journal/journal.ts'
import { account, application } from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { heldAnswer } from '../../test/support/scripted-engine/scripted-hooks.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../test/support/scripted-engine/plain-verbs.ts'
import { sipRequest } from '../../test/support/scripted-engine/scripted-messages.ts'
import type { ScriptedDialog } from '../../test/support/scripted-engine/scripted-dialog.ts'
import type { ScriptedInvite } from '../../test/support/scripted-engine/scripted-sip.ts'

function platformWith(verbs: unknown, options = {}): ScriptedEngine {
  const engine = createScriptedEngine(parsePlainVerbs, options)
  engine.hooks.on('/call', verbs)
  return engine
}

function dialogOf(invite: ScriptedInvite): ScriptedDialog {
  if (invite.dialog === undefined) throw new Error('the call was not answered')
  return invite.dialog
}

function journalOf(engine: ScriptedEngine): readonly JournalEvent[] {
  const [record] = engine.store.records
  const call_sid = record?.call_sid ?? engine.calls.list(account.account_sid)[0]?.call_sid
  if (call_sid === undefined) throw new Error('there is no call')
  return engine.store.journalOf(call_sid)
}

const xReason = (invite: ScriptedInvite): string | undefined =>
  invite.final?.headers?.find(({ name }) => name === 'x-reason')?.value

describe('a call that is served', () => {
  it('reports trying, in-progress, completed in order and leaves one record', async () => {
    const engine = platformWith([{ verb: 'speak' }])
    const invite = engine.ring()
    await settle()
    expect(engine.calls.list(account.account_sid)).toHaveLength(1)
    expect(engine.calls.count(account.account_sid)).toEqual({ inbound: 1, outbound: 0 })
    engine.clock.advance(1000)
    await settle()
    expect(engine.store.statuses).toEqual(['trying', 'in-progress', 'completed'])
    expect(engine.store.records).toMatchObject([
      {
        answered: true,
        sip_status: 200,
        duration: 1,
        termination_reason: 'called party hungup',
        direction: 'inbound',
        from: '+4420',
        trunk: 'user',
      },
    ])
    expect(dialogOf(invite).sentBye).toEqual([])
    expect(engine.calls.list(account.account_sid)).toEqual([])
    expect(engine.media.openSessions).toBe(0)
    expect(engine.lent.size).toBe(0)
    expect(engine.clock.pending).toBe(0)
  })

  it('numbers its journal without gaps and hands every event to storage once', async () => {
    const engine = platformWith([{ verb: 'speak' }, { verb: 'ask' }])
    engine.ring()
    await settle()
    engine.clock.advance(1000)
    await settle()
    const events = engine.store.batches.flatMap((batch) => batch.events)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect(journalOf(engine)).toEqual(events)
  })

  it('is found for an hour after its end, by its own account only', async () => {
    const engine = platformWith([{ verb: 'answer' }])
    engine.ring()
    await settle()
    const { call_sid = '' } = engine.store.records[0] ?? {}
    expect(engine.calls.find(account.account_sid, call_sid)).toMatchObject({
      call_status: 'completed',
      duration: 0,
    })
    expect(engine.calls.find('another', call_sid)).toBeUndefined()
    expect(engine.calls.journal('another', call_sid)).toBeUndefined()
    engine.clock.advance(3_600_001)
    expect(engine.calls.find(account.account_sid, call_sid)).toBeUndefined()
  })

  it('replaces the rest of the stack with the verbs of an action hook', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'ask' }, { verb: 'crash' }])
    engine.hooks.on('/action', [{ verb: 'hangup' }])
    const invite = engine.ring()
    await settle()
    expect(dialogOf(invite).sentBye).toEqual([{ name: 'x-bye', value: 'now' }])
    expect(journalOf(engine)).toContainEqual(
      expect.objectContaining({ type: 'verb-ended', verb: 'hangup', outcome: 'done' }),
    )
    expect(engine.hooks.payloadsOf('/action')).toMatchObject([
      { reason: 'asked', call_status: 'in-progress' },
    ])
  })

  it.each([
    ['fails', () => Promise.reject(new AppError('hook_bad_status', 'answered 500'))],
    ['answers nothing', () => Promise.resolve(undefined)],
    ['answers an empty object', () => Promise.resolve({})],
    ['answers an empty array', () => Promise.resolve([])],
  ])('goes on with the next verb when an action hook %s', async (_, answer) => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'ask' }, { verb: 'speak' }])
    engine.hooks.answers.set('/action', answer)
    engine.ring()
    await settle()
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
  })

  it('tells the status hook when an action hook answers with an unknown verb, and goes on', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'ask' }, { verb: 'speak' }])
    engine.hooks.on('/action', [{ verb: 'juggle' }])
    engine.ring()
    await settle()
    expect(engine.store.notifications).toContainEqual(
      expect.objectContaining({ error: 'hook_invalid_payload', reason: 'unknown verb "juggle"' }),
    )
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
  })

  it('goes on with the next verb when one fails', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'fail' }, { verb: 'speak' }])
    engine.ring()
    await settle()
    expect(engine.media.sessions[0]?.played).toHaveLength(1)
    expect(journalOf(engine)).toContainEqual(
      expect.objectContaining({ type: 'problem', code: 'speech_failed', sentence: 'no voice' }),
    )
  })

  it('is hung up when a verb has a bug, which no one outside gets to see', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'crash' }, { verb: 'speak' }])
    const invite = engine.ring()
    await settle()
    expect(dialogOf(invite).sentBye).toEqual(failureFields('internal', 'internal error'))
    expect(JSON.stringify(engine.store.batches)).not.toContain('a bug')
    expect(engine.store.records).toHaveLength(1)
  })

  it('carries customerData in every payload after tag, replaced by the next one', async () => {
    const engine = platformWith([
      { verb: 'tag', text: 'one' },
      { verb: 'ask' },
      { verb: 'tag', text: 'two' },
      { verb: 'answer' },
    ])
    engine.ring()
    await settle()
    expect(engine.hooks.payloadsOf('/action')[0]).toMatchObject({ customerData: { text: 'one' } })
    expect(engine.store.notifications.at(-1)).toMatchObject({ customerData: { text: 'two' } })
  })

  it(
    'offers early media with 183 and then answers with 200',
    covers({ section: 'States', says: 'early-media is reported when media flows before the answer (183).' }),
    async () => {
      const engine = platformWith([{ verb: 'speak-early' }, { verb: 'answer' }, { verb: 'wait', ms: 100 }])
      const invite = engine.ring()
      await settle()
      expect(invite.provisionals).toMatchObject([{ status: 183, body: { content: 'v=0 answer' } }])
      engine.clock.advance(1000)
      await settle()
      expect(invite.dialog).toBeDefined()
      expect(engine.store.statuses).toEqual(['trying', 'early-media', 'in-progress'])
      expect(engine.media.sessions[0]?.offers).toHaveLength(1)
    },
  )

  it(
    'takes app_json instead of asking the call hook',
    covers({ section: 'Fields: Application', says: 'With `app_json` the call hook is not asked.' }),
    async () => {
      const engine = createScriptedEngine(parsePlainVerbs)
      engine.application = { ...application, app_json: '[{"verb":"decline","status":404}]' }
      const invite = engine.ring()
      await settle()
      expect(engine.hooks.asked).toEqual([])
      expect(invite.final).toMatchObject({ status: 404 })
    },
  )
})

describe('a call whose INVITE has no offer', () => {
  it('is offered ours in the 200 and takes the answer from the ACK', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 1000 }])
    const invite = engine.ring({ body: '' })
    await settle()
    dialogOf(invite).listener.confirmed(sipRequest('ACK', { type: 'application/sdp', body: 'v=0' }))
    await settle()
    expect(journalOf(engine)).toContainEqual(expect.objectContaining({ type: 'media-open', codec: 'PCMU' }))
  })

  it('is hung up when the ACK carries no answer', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 1000 }])
    const invite = engine.ring({ body: '' })
    await settle()
    dialogOf(invite).listener.confirmed(sipRequest('ACK'))
    await settle()
    expect(dialogOf(invite).sentBye).toBeDefined()
    expect(engine.store.records).toHaveLength(1)
  })
})

describe('the end of a call', () => {
  it('by a CANCEL during the call hook leaves "caller abandoned", and the status hook hears of it', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    const held = heldAnswer()
    engine.hooks.answers.set('/call', held.answer)
    const invite = engine.ring()
    await settle()
    invite.cancel()
    await settle()
    expect(engine.hooks.asked[0]?.signal?.aborted).toBe(true)
    expect(engine.store.records).toMatchObject([
      { termination_reason: 'caller abandoned', sip_status: 487, answered: false, answered_at: null },
    ])
    expect(engine.store.notifications).toMatchObject([
      { call_status: 'trying', sip_status: 100 },
      { call_status: 'no-answer', sip_status: 487, call_termination_by: 'caller' },
    ])
    expect(journalOf(engine)).toContainEqual(
      expect.objectContaining({ type: 'hook-failed', code: 'withdrawn' }),
    )
    held.release([{ verb: 'answer' }])
    await settle()
    expect(invite.dialog).toBeUndefined()
    expect(engine.store.records).toHaveLength(1)
  })

  it('by a failing call hook is in the record alone', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    engine.hooks.answers.set('/call', () => Promise.reject(new AppError('hook_timeout', 'no answer')))
    engine.ring()
    await settle()
    expect(engine.store.records).toMatchObject([{ sip_status: 480, answered: false }])
    expect(engine.store.notifications).toEqual([])
  })

  it(
    'by a CANCEL after trying reports no-answer with the Reason header of the CANCEL',
    covers({ section: 'States', says: 'no-answer is reported when an attempt was not answered in time.' }),
    async () => {
      const engine = platformWith([{ verb: 'wait', ms: 60_000 }])
      const invite = engine.ring()
      await settle()
      invite.cancel([{ name: 'reason', value: 'SIP ;cause=200 ; text="Call completed elsewhere"' }])
      await settle()
      expect(engine.store.notifications.at(-1)).toMatchObject({
        call_status: 'no-answer',
        sip_status: 487,
        sip_reason: 'Request Terminated',
        call_termination_by: 'caller',
        sip_reason_header: 'SIP;cause=200;text="Call completed elsewhere"',
      })
    },
  )

  it('by a BYE during speech stops the speech and carries the headers of the BYE', async () => {
    const engine = platformWith([{ verb: 'speak' }, { verb: 'ask' }])
    const invite = engine.ring()
    await settle()
    engine.clock.advance(400)
    dialogOf(invite).hangUp([
      { name: 'reason', value: 'Q.850;cause=16' },
      { name: 'x-quality', value: 'good' },
      { name: 'via', value: 'SIP/2.0/UDP host' },
    ])
    await settle()
    expect(engine.store.notifications.at(-1)).toMatchObject({
      call_status: 'completed',
      sip_status: 200,
      sip_reason: 'OK',
      duration: 0,
      call_termination_by: 'caller',
      sip_reason_header: 'Q.850;cause=16',
      headers: { x_quality: 'good' },
    })
    expect(engine.store.notifications.at(-1)?.['headers']).not.toHaveProperty('via')
    expect(engine.store.records).toMatchObject([{ termination_reason: 'caller hungup' }])
    expect(engine.hooks.payloadsOf('/action')).toEqual([])
    expect(engine.lent.size).toBe(0)
    expect(engine.clock.pending).toBe(0)
  })

  it('comes to an application that asks itself without end', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'ask' }])
    engine.hooks.on('/action', [{ verb: 'ask' }])
    const invite = engine.ring()
    await invite.settled()
    while (engine.calls.liveCount > 0) {
      await settle()
      // After the burst the application may answer with another hook five times a second.
      engine.clock.advance(1000)
    }
    expect(dialogOf(invite).sentBye).toEqual(
      failureFields('hook_invalid_payload', 'the application runs verbs without end'),
    )
  })

  it('by both sides at once is reported once', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'hangup' }])
    const invite = engine.ring()
    await settle()
    dialogOf(invite).hangUp()
    await settle()
    expect(engine.store.statuses).toEqual(['trying', 'in-progress', 'completed'])
    expect(engine.store.records).toHaveLength(1)
  })

  it(
    'by the end of the verbs of an unanswered call is 603 and failed',
    covers({ section: 'States', says: 'failed is reported when an attempt failed.' }),
    async () => {
      const engine = platformWith([{ verb: 'hangup' }])
      const invite = engine.ring()
      await settle()
      expect(invite.final?.status).toBe(603)
      expect(engine.store.notifications.at(-1)).toMatchObject({
        call_status: 'failed',
        sip_status: 603,
        sip_reason: 'Decline',
      })
      expect(engine.store.records).toMatchObject([{ termination_reason: 'failed', sip_status: 603 }])
    },
  )

  it('by decline carries the status, reason and X-Reason of the verb', async () => {
    const engine = platformWith([{ verb: 'decline', status: 486 }])
    const invite = engine.ring()
    await settle()
    expect(invite.final).toEqual({
      status: 486,
      reason: 'Busy',
      headers: [{ name: 'x-reason', value: 'SIP Decline Verb' }],
    })
    expect(engine.store.notifications.at(-1)).toMatchObject({ call_status: 'failed', sip_reason: 'Busy' })
  })

  it('by the API is BYE when answered, and 503 with no-answer before', async () => {
    const engine = platformWith([{ verb: 'wait', ms: 1000 }, { verb: 'answer' }, { verb: 'wait', ms: 9000 }])
    const early = engine.ring()
    await settle()
    const [first] = engine.calls.list(account.account_sid)
    expect(await engine.calls.hangUp(account.account_sid, first?.call_sid ?? '')).toBe(true)
    expect(early.final?.status).toBe(503)
    expect(engine.store.notifications.at(-1)).toMatchObject({ call_status: 'no-answer', sip_status: 503 })

    const late = engine.ring()
    await settle()
    engine.clock.advance(1000)
    await settle()
    const [second] = engine.calls.list(account.account_sid)
    expect(await engine.calls.hangUp(account.account_sid, second?.call_sid ?? '')).toBe(true)
    expect(dialogOf(late).sentBye).toEqual([])
    expect(engine.store.notifications.at(-1)).toMatchObject({
      call_status: 'completed',
      call_termination_by: 'jambonz',
    })
    expect(await engine.calls.hangUp(account.account_sid, second?.call_sid ?? '')).toBe(false)
  })

  it.each([
    ['silent', 'media_timeout', 'Media Timeout', 30_000],
    ['held', 'hold_timeout', 'Hold Timeout', 1_800_000],
  ] as const)(
    'by a %s far end is a BYE, a journal and a record that say so',
    async (cause, code, reason, limitMs) => {
      const lines: object[] = []
      const write = (line: string) => void lines.push(JSON.parse(line) as object)
      const log = createLogger('info', { write })
      const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 9_000_000 }], { log })
      const invite = engine.ring()
      await settle()
      const [session] = engine.media.sessions
      if (session === undefined) throw new Error('no media')
      session.isHeld = true
      const reply = await dialogOf(invite).listener.offered('v=0 sendonly', sipRequest('INVITE'))
      expect(reply).toMatchObject({ status: 200, body: { content: 'v=0 answer' } })
      session.isHeld = false
      await dialogOf(invite).listener.offered('v=0 sendrecv', sipRequest('INVITE'))
      engine.clock.advance(limitMs)
      session.emit({ type: 'ignored', address: '192.0.2.99', port: 9 })
      session.emit({ type: 'timeout', cause, silentMs: limitMs, limitMs })
      expect(dialogOf(invite).sentBye).toEqual(timerFields(code, reason))
      await settle()
      expect(engine.store.records).toMatchObject([
        { answered: true, termination_reason: reason.toLowerCase() },
      ])
      const journal = journalOf(engine)
      expect(journal.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['media-held', 'media-resumed', 'media-ignored', 'media-closed']),
      )
      const because = 'packets came only from places that neither the SDP nor signalling names'
      expect(journal).toContainEqual(
        expect.objectContaining({ type: 'media-timeout', cause, silent_ms: limitMs, because }),
      )
      const failure = { code, sentence: because, cure: entryOf(code).cure }
      expect(journal.filter(({ type }) => type === 'refusal')).toMatchObject([failure])
      expect(engine.store.notifications.at(-1)).toHaveProperty('failure', failure)
      expect(engine.store.records[0]?.failure).toEqual(failure)
      const end = { msg: 'call ended', termination_reason: reason.toLowerCase() }
      expect(lines.at(-1)).toMatchObject({ ...end, ...failure })
    },
  )

  it('does not come from silence before the answer', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 9_000_000 }])
    const invite = engine.ring()
    await settle()
    const [session] = engine.media.sessions
    const silent = { type: 'timeout', cause: 'silent', limitMs: 30_000 } as const
    engine.clock.advance(29_999)
    session?.emit({ ...silent, silentMs: 90_000 })
    expect(dialogOf(invite).sentBye).toBeUndefined()
    engine.clock.advance(1)
    session?.emit({ ...silent, silentMs: 90_001 })
    expect(dialogOf(invite).sentBye).toEqual(timerFields('media_timeout', 'Media Timeout'))
  })

  it('is put off by every request of the far end', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 9_000_000 }])
    const invite = engine.ring()
    await settle()
    const [session] = engine.media.sessions
    const { listener } = dialogOf(invite)
    await listener.offered(undefined, sipRequest('UPDATE'))
    await listener.requested(sipRequest('OPTIONS'))
    expect(session?.signsOfLife).toBe(2)
  })

  it('by the death of its media thread is a BYE that says so', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 9_000_000 }])
    const invite = engine.ring()
    await settle()
    engine.media.sessions[0]?.emit({ type: 'lost' })
    expect(dialogOf(invite).sentBye).toEqual(failureFields('media_lost', 'media server failure'))
    await settle()
    expect(engine.store.records).toHaveLength(1)
  })

  it('comes after 180 minutes at the latest', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 90_000_000 }])
    const invite = engine.ring()
    await settle()
    engine.clock.advance(180 * 60_000)
    expect(dialogOf(invite).sentBye).toEqual(timerFields('call_duration_limit', 'Max Call Duration'))
    await settle()
    expect(engine.store.records).toMatchObject([{ duration: 10_800 }])
    expect(engine.clock.pending).toBe(0)
  })

  it('by a dialog that was never acknowledged leaves one record', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 90_000 }])
    const invite = engine.ring()
    await settle()
    dialogOf(invite).fail('ack-timeout')
    await settle()
    expect(engine.store.records).toHaveLength(1)
    expect(engine.media.openSessions).toBe(0)
  })
})

describe('requests within a call', () => {
  it('answers a re-INVITE without SDP with an offer, and UPDATE without SDP with nothing', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 9000 }])
    const invite = engine.ring()
    await settle()
    const { listener } = dialogOf(invite)
    expect(await listener.offered(undefined, sipRequest('INVITE'))).toMatchObject({
      body: { content: 'v=0 offer' },
    })
    expect(await listener.offered(undefined, sipRequest('UPDATE'))).toEqual({ status: 200 })
  })

  it('refuses other methods with 501 and the call goes on', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 9000 }])
    const invite = engine.ring()
    await settle()
    expect(await dialogOf(invite).listener.requested(sipRequest('REFER'))).toMatchObject({ status: 501 })
    expect(engine.calls.liveCount).toBe(1)
  })
})

describe('a call that is refused', () => {
  it.each([
    [
      'answers an empty array',
      () => Promise.resolve([]),
      'the call hook (no content type) answered without verbs',
    ],
    [
      'answers nothing',
      () => Promise.resolve(undefined),
      'the call hook (no content type) answered without verbs',
    ],
    ['names an unknown verb', () => Promise.resolve([{ verb: 'juggle' }]), 'unknown verb "juggle"'],
    [
      'answers 500',
      () => Promise.reject(new AppError('hook_bad_status', 'the call hook answered 500')),
      'the call hook answered 500',
    ],
    ['throws an unexpected error', () => Promise.reject(new TypeError('a bug')), 'internal error'],
  ])(
    'because its hook %s gets a final answer with X-Reason, a record and no status event',
    async (_, answer, reason) => {
      const engine = createScriptedEngine(parsePlainVerbs)
      engine.hooks.answers.set('/call', answer)
      const invite = engine.ring()
      await settle()
      const expected = reason === 'internal error' ? 500 : 480
      expect(invite.final?.status).toBe(expected)
      expect(xReason(invite)).toBe(reason)
      expect(engine.store.notifications).toEqual([])
      const failure = { sentence: reason, cure: expect.any(String) as string }
      // The account gets an alert for these.
      if (reason.includes('without verbs'))
        expect(journalOf(engine)).toContainEqual(
          expect.objectContaining({ type: 'hook-failed', code: 'hook_invalid_payload', sentence: reason }),
        )
      expect(engine.store.records).toMatchObject([
        { sip_status: expected, termination_reason: 'failed', failure },
      ])
      expect(journalOf(engine)).toContainEqual(expect.objectContaining({ type: 'refusal', ...failure }))
      expect(engine.calls.liveCount).toBe(0)
      expect(engine.clock.pending).toBe(0)
    },
  )

  it('because its hook answers verbs under another type than JSON names the type', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    engine.hooks.on('/call', undefined)
    engine.hooks.facts = { contentType: 'text/html', isUnread: true }
    const invite = engine.ring()
    await settle()
    expect(xReason(invite)).toBe('the call hook answered with verbs as text/html, which is not read')
    expect(journalOf(engine)).toContainEqual(
      expect.objectContaining({
        type: 'refusal',
        code: 'hook_invalid_payload',
        cure: 'Send Content-Type: application/json with the answer.',
      }),
    )
  })

  it('for its media offer is 488 with failed, after trying', async () => {
    const engine = platformWith([{ verb: 'answer' }])
    engine.media.failure = {
      at: 'answer',
      error: new AppError('media_not_acceptable', 'no codec in common'),
    }
    const invite = engine.ring()
    await settle()
    expect(invite.final?.status).toBe(488)
    expect(engine.store.statuses).toEqual(['trying', 'failed'])
    expect(engine.media.openSessions).toBe(0)
  })

  it('for its media offer says in the record what was offered', async () => {
    const engine = platformWith([{ verb: 'answer' }])
    const sentence = 'The audio stream is offered without PCMU and PCMA; its codecs are: OPUS/48000.'
    engine.media.failure = { at: 'answer', error: new AppError('media_not_acceptable', sentence) }
    engine.ring()
    await settle()
    expect(engine.store.records).toMatchObject([
      { answered: false, sip_status: 488, termination_reason: `failed: ${sentence}` },
    ])
  })

  it('for want of a media port is 503 with Retry-After', async () => {
    const engine = platformWith([{ verb: 'answer' }])
    engine.media.failure = { at: 'open', error: new AppError('no_media_port', 'no port is free') }
    const invite = engine.ring()
    await settle()
    expect(invite.final).toMatchObject({ status: 503 })
    expect(invite.final?.headers).toContainEqual({ name: 'retry-after', value: '5' })
  })

  it('by the challenge leaves nothing behind', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    engine.authentication = { verdict: 'challenge', reply: { status: 401 } }
    const invite = engine.ring()
    await settle()
    expect(invite.final?.status).toBe(401)
    expect(engine.store.batches).toEqual([])
    expect(engine.calls.liveCount).toBe(0)
  })

  it('for an unknown realm is 404 and leaves nothing behind', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    engine.account = undefined
    const invite = engine.ring()
    await settle()
    expect(invite.final?.status).toBe(404)
    expect(engine.store.batches).toEqual([])
  })

  it('for wrong credentials is 403 with a record, for the account is known', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    const headers = [{ name: 'x-reason', value: 'Invalid credentials' }]
    engine.authentication = {
      verdict: 'refused',
      code: 'wrong_credentials',
      reply: { status: 403, headers },
      isWorthRecord: true,
    }
    const invite = engine.ring()
    await settle()
    expect(invite.final?.status).toBe(403)
    expect(engine.store.records).toMatchObject([{ sip_status: 403, application_sid: null }])
  })

  it('leaves no record when the stack says that it is worth none, and goes out as the stack made it', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    const headers = [{ name: 'x-reason', value: 'Account exists but is inactive' }]
    const reply = { status: 503, headers, isUnproven: true } as const
    engine.authentication = { verdict: 'refused', code: 'account_inactive', reply, isWorthRecord: false }
    const invite = engine.ring()
    await settle()
    expect(invite.final).toEqual(reply)
    expect(engine.store.batches).toEqual([])
  })

  it('for an inactive account is 503 that says so', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    engine.account = { ...account, is_active: false }
    const invite = engine.ring()
    await settle()
    expect(invite.final?.status).toBe(503)
    expect(xReason(invite)).toBe('Account exists but is inactive')
  })

  it('for want of an application is 480 and the journal names the rule', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    const invite = engine.ring({ to: '4420@example.com' })
    await settle()
    expect(invite.final?.status).toBe(480)
    expect(xReason(invite)).toBe('no configured application')
    const decision = journalOf(engine).find((event) => event.type === 'decision' && event.code !== undefined)
    expect(decision).toMatchObject({ rule: 'user-no-application' })
  })

  it('for a loop is 482', async () => {
    const engine = platformWith([{ verb: 'answer' }])
    const headers = [{ name: 'x-application-sid', value: application.application_sid }]
    const invite = engine.ring({ headers })
    await settle()
    expect(invite.final?.status).toBe(482)
  })

  it('beyond the capacity is 503 with Retry-After, and the running calls stay', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 9000 }], { maxCalls: 1 })
    engine.ring()
    await settle()
    const second = engine.ring()
    await settle()
    expect(second.final).toMatchObject({ status: 503 })
    expect(engine.calls.liveCount).toBe(1)
  })

  it('for a failure of the directory is 500 without details', async () => {
    const engine = createScriptedEngine(parsePlainVerbs)
    Object.defineProperty(engine, 'authentication', {
      get: () => {
        throw new TypeError('database secret')
      },
    })
    const invite = engine.ring()
    await settle()
    expect(invite.final?.status).toBe(500)
    expect(xReason(invite)).toBe('internal error')
  })
})

describe('call records of an account that keeps none', () => {
  it('are closed without a record', async () => {
    const engine = platformWith([{ verb: 'answer' }])
    engine.account = { ...account, disable_cdrs: true }
    engine.ring()
    await settle()
    expect(engine.store.records).toEqual([])
    expect(engine.store.batches.filter(({ ended }) => ended === true)).toHaveLength(1)
  })
})

describe('stopping', () => {
  it('drains: new calls get 503, running ones end by themselves', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 5000 }])
    engine.ring()
    await settle()
    let isDrained = false
    const draining = engine.calls.drain().then(() => (isDrained = true))
    const late = engine.ring()
    await settle()
    expect(late.final?.status).toBe(503)
    expect(isDrained).toBe(false)
    engine.clock.advance(5000)
    await draining
    expect(engine.store.records).toHaveLength(1)
  })

  it('hangs up every call and has their records written, also of one being authenticated', async () => {
    const engine = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 5000 }])
    const running = engine.ring()
    await settle()
    const arriving = engine.ring()
    await engine.calls.hangUpAll('maintenance')
    expect(dialogOf(running).sentBye).toEqual(failureFields('stopping', 'maintenance'))
    expect(arriving.final?.status).toBe(503)
    expect(engine.store.records).toHaveLength(2)
    expect(engine.calls.liveCount).toBe(0)
  })
})

describe('starting after a kill', () => {
  it('gives every call that was left behind its end, its record and its last status event', async () => {
    const before = platformWith([{ verb: 'answer' }, { verb: 'wait', ms: 90_000 }])
    before.ring()
    await settle()
    const { account_sid, call_sid } = before.store.batches[0] ?? { account_sid: '', call_sid: '' }
    const events = before.store.batches.flatMap((batch) => batch.events)

    const after = createScriptedEngine(parsePlainVerbs)
    after.store.left.push({ account_sid, call_sid, events: JSON.parse(JSON.stringify(events)) })
    await after.calls.start()
    await settle()
    expect(after.store.records).toMatchObject([
      { call_sid, answered: true, sip_status: 200, termination_reason: 'platform stopped in mid-call' },
    ])
    expect(after.store.notifications).toMatchObject([{ call_sid, call_status: 'completed' }])
    const added = after.store.batches.flatMap((batch) => batch.events)
    expect(added[0]?.seq).toBe(events.length + 1)
  })

  it('closes a journal without a beginning, and one that had ended, without inventing anything', async () => {
    const after = createScriptedEngine(parsePlainVerbs)
    after.store.left.push({ account_sid: 'a', call_sid: 'c', events: [] })
    await after.calls.start()
    await settle()
    expect(after.store.batches).toEqual([
      { account_sid: 'a', call_sid: 'c', events: [], notifications: [], ended: true },
    ])
  })
})
