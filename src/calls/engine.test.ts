import { describe, expect, it } from 'vitest'
import { failureFields } from '../../test/support/reason-fields.ts'
import { answer, rest, runVerbs, verb } from '../../test/support/scripted-engine/script.ts'
import { account, callRequest, phone } from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { placeOn } from '../../test/support/scripted-engine/place-on.ts'
import { heldAnswer } from '../../test/support/scripted-engine/scripted-hooks.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../test/support/scripted-engine/plain-verbs.ts'
import { ScriptedInvite } from '../../test/support/scripted-engine/scripted-sip.ts'
import { sipRequest } from '../../test/support/scripted-engine/scripted-messages.ts'
import type { Alert } from '../contracts/alert.ts'
import { AppError } from '../lib/errors.ts'
import type { CallsOptions } from './calls.ts'
import type { AccountFacts } from './ports.ts'

const { account_sid } = account
const waiting = [{ verb: 'answer' }, { verb: 'wait', ms: 9_000_000 }]

function platform(options: Partial<CallsOptions> = {}): ScriptedEngine {
  const engine = createScriptedEngine(parsePlainVerbs, options)
  engine.hooks.on('/call', waiting)
  engine.phones.set(phone.aor, [phone])
  return engine
}

const xReason = ({ final }: ScriptedInvite): string | undefined =>
  final?.headers?.find(({ name }) => name === 'x-reason')?.value

describe('while nothing of a call could be kept', () => {
  const away = new AppError('database_unavailable', 'the database is away')

  it('a call is refused with 503 at once, without a look at the database, and no call is placed', async () => {
    const engine = platform()
    engine.store.away = away
    const invite = engine.ring()
    expect(invite.final).toMatchObject({ status: 503, isUnproven: true })
    expect(invite.final?.headers).toContainEqual({ name: 'retry-after', value: '5' })
    await expect(placeOn(engine, callRequest)).rejects.toBe(away)
    expect(engine.store.batches).toEqual([])
  })

  it('a call that has not been answered yet is refused instead', async () => {
    const engine = platform()
    const hook = heldAnswer()
    engine.hooks.answers.set('/call', hook.answer)
    const invite = engine.ring()
    await settle()
    engine.store.away = away
    hook.release(waiting)
    await settle()
    expect(invite.final).toMatchObject({ status: 503 })
    expect(engine.store.records).toMatchObject([
      { answered: false, failure: { code: 'database_unavailable' } },
    ])
  })
})

describe('the share of an account', () => {
  const sentence = 'Max Account Share Of Calls In Progress'

  /** An account that may have half of four calls, and has them. */
  async function atItsShare(alerts: Alert[] = []): Promise<ScriptedEngine> {
    const engine = platform({
      maxCalls: 4,
      sharePercent: 50,
      alerts: { raise: (alert) => void alerts.push(alert) },
    })
    engine.ring()
    await settle()
    await placeOn(engine, callRequest)
    await settle()
    return engine
  }

  it('counts its calls of both directions, and refuses the caller beyond it', async () => {
    const alerts: Alert[] = []
    const engine = await atItsShare(alerts)
    const beyond = engine.ring()
    await settle()
    expect(beyond.final).toMatchObject({ status: 503, reason: sentence })
    expect(beyond.final?.headers).toContainEqual({ name: 'x-account-sid', value: account_sid })
    expect(beyond.final?.headers).toContainEqual({ name: 'retry-after', value: '5' })
    const [record] = engine.store.records
    expect(engine.store.journalOf(record?.call_sid ?? '')).toContainEqual(
      expect.objectContaining({
        rule: 'limit-share',
        outcome: 'refused: 2 of the 2 calls in progress are of the account, 4 can be',
        code: 'account_share',
      }),
    )
    expect(alerts).toMatchObject([{ alert_type: 'account-call-limit', call_sid: record?.call_sid }])
  })

  it('refuses at once the client that asks for one more, with an alert and without a call', async () => {
    const alerts: Alert[] = []
    const engine = await atItsShare(alerts)
    await expect(engine.calls.prepare(callRequest)).rejects.toMatchObject({
      code: 'account_share',
      message: sentence,
      retryAfterSeconds: 5,
    })
    expect(alerts).toEqual([
      {
        account_sid,
        alert_type: 'account-call-limit',
        message: sentence,
        detail: expect.any(String) as string,
      },
    ])
    expect(engine.calls.liveCount).toBe(2)
  })

  it('does not apply to an account that has a limit of its own', async () => {
    const engine = await atItsShare()
    engine.limits = { account: 9 }
    await placeOn(engine, callRequest)
    expect(engine.calls.liveCount).toBe(3)
  })

  it('is smaller while others have calls', async () => {
    const engine = platform({ maxCalls: 4, sharePercent: 50 })
    const other: AccountFacts = { ...account, account_sid: 'other', sip_realm: 'other.example' }
    engine.otherAccounts.push(other)
    engine.application = { ...engine.application!, app_json: JSON.stringify(waiting) }
    engine.ring()
    engine.ring()
    await settle()
    await expect(
      engine.calls.prepare({
        ...callRequest,
        account_sid: other.account_sid,
        runs: { script: engine.application },
      }),
    ).resolves.toMatchObject({})
    await expect(engine.calls.prepare(callRequest)).rejects.toMatchObject({ code: 'account_share' })
  })
})

describe('an engine that is full', () => {
  it('refuses what comes far beyond it without a record', async () => {
    const engine = platform({ maxCalls: 1 })
    engine.ring()
    await settle()
    const headers = [{ name: 'authorization', value: 'Digest' }]
    const [second, third] = [engine.ring({ headers }), engine.ring({ headers })]
    await settle()
    // The first of them is within the tenth above the bound.
    expect([second, third].map(({ final }) => final?.status)).toEqual([503, 503])
    expect(third.final).toMatchObject({ isUnproven: true })
    expect(xReason(third)).toBe('the platform is at its capacity')
    expect(engine.store.records).toHaveLength(1)
  })
})

describe('an engine that has stopped', () => {
  it('has hung up its calls with its reason, and refuses every INVITE', async () => {
    const engine = platform()
    const running = engine.ring()
    await settle()
    await engine.calls.stop()
    await engine.calls.stop()
    expect(running.dialog?.sentBye).toEqual(failureFields('stopping', 'the platform is stopping'))
    const late = engine.ring()
    await settle()
    expect(late.final).toMatchObject({ status: 503, isUnproven: true })
    expect(xReason(late)).toBe('the platform is shutting down')
    expect(engine.store.records).toHaveLength(1)
  })

  it('keeps what the stack itself had to say of an INVITE', async () => {
    const engine = platform()
    await engine.calls.stop()
    const invite = new ScriptedInvite({ to: '500@example.com', callId: 'late@test' })
    const headers = [{ name: 'x-reason', value: 'The extension timer is not supported' }]
    engine.calls.refused(invite, { code: 'extension_not_supported', reply: { status: 420, headers } })
    expect(invite.final).toEqual({ status: 420, headers, isUnproven: true })
  })

  it('waits for its records before it is stopped', async () => {
    const engine = platform()
    engine.ring()
    await settle()
    const flushed: number[] = []
    engine.store.flush = async () => void flushed.push(engine.store.records.length)
    await engine.calls.hangUpAll('maintenance')
    expect(flushed).toEqual([1, 1])
  })

  it('waits for far ends where storage fails, and is stopped then', async () => {
    const call = await runVerbs([answer, rest])
    const responded = Promise.withResolvers<void>()
    call.dialog().bye = () => responded.promise
    call.engine.store.flush = () => Promise.reject(new Error('the database is away'))
    let isStopped = false
    const stopping = call.engine.calls.stop().then(() => (isStopped = true))
    await settle()
    expect(isStopped).toBe(false)
    responded.resolve()
    await stopping
    expect(isStopped).toBe(true)
  })

  it('does not wait for ever for far ends that do not respond to BYE', async () => {
    const call = await runVerbs([answer, rest])
    call.dialog().bye = () => new Promise(() => undefined)
    let isStopped = false
    const stopping = call.engine.calls.hangUpAll('maintenance').then(() => (isStopped = true))
    await settle()
    call.engine.clock.advance(1999)
    await settle()
    expect(isStopped).toBe(false)
    call.engine.clock.advance(1)
    await stopping
    expect(call.engine.clock.pending).toBe(0)
  })
})

describe('an engine that drains', () => {
  it('has OPTIONS refused from now on, and is drained when the last call has ended', async () => {
    let drained = 0
    const engine = platform()
    const sip = createDrainCounter(engine, () => (drained += 1))
    const invite = sip.ring()
    await settle()
    let isDrained = false
    const draining = sip.calls.drain().then(() => (isDrained = true))
    await settle()
    expect([drained, isDrained]).toEqual([1, false])
    invite.dialog?.hangUp()
    await draining
    expect(isDrained).toBe(true)
  })
})

/** An engine whose stack counts how often it is drained. */
function createDrainCounter(like: ScriptedEngine, onDrain: () => void): ScriptedEngine {
  const stack = {
    authenticate: () => Promise.resolve(like.authentication),
    drain: onDrain,
    addressFor: () => ({ host: '127.0.0.1', port: 5060 }),
  }
  const engine = createScriptedEngine(parsePlainVerbs, { sip: () => stack as never })
  engine.hooks.on('/call', waiting)
  return engine
}

describe('calls that another node has treated as lost', () => {
  it('are hung up, and the others stay', async () => {
    const engine = platform()
    const [lost, kept] = [engine.ring(), engine.ring()]
    await engine.calls.start()
    await settle()
    const call_sid = engine.calls.list(account_sid)[0]?.call_sid ?? ''
    engine.store.listener?.lost([call_sid])
    await settle()
    expect(lost.dialog?.sentBye).toEqual(failureFields('call_lost', 'the call was taken for lost'))
    expect(kept.dialog?.sentBye).toBeUndefined()
  })

  it('that were abandoned elsewhere are ended here when storage says so', async () => {
    const dead = platform()
    dead.ring()
    await settle()
    dead.store.abandon()
    const engine = platform()
    await engine.calls.start()
    await settle()
    engine.store.left.push(...dead.store.left)
    engine.store.listener?.abandoned()
    await settle()
    expect(engine.store.records).toMatchObject([{ termination_reason: 'platform stopped in mid-call' }])
    await engine.calls.stop()
  })
})

describe('a call that was asked for', () => {
  it('is in storage before the client hears of it', async () => {
    const engine = platform()
    const stored = Promise.withResolvers<void>()
    engine.store.flush = () => stored.promise
    let hasBegun = false
    const begun = placeOn(engine, callRequest).then(() => (hasBegun = true))
    await settle()
    expect([engine.sent.length, hasBegun]).toEqual([1, false])
    stored.resolve()
    await begun
    expect(hasBegun).toBe(true)
  })

  it('is made once where storage fails: the client hears of it as of any other', async () => {
    const engine = platform()
    engine.store.flush = () => Promise.reject(new Error('the database is away'))
    await expect(placeOn(engine, callRequest)).resolves.toMatchObject({})
    expect(engine.sent).toHaveLength(1)
  })

  it('does not wait longer than two seconds for a storage that is slow', async () => {
    const engine = platform()
    engine.store.flush = () => new Promise(() => undefined)
    const begun = placeOn(engine, callRequest)
    await settle()
    engine.clock.advance(2000)
    await expect(begun).resolves.toMatchObject({ call_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string })
  })
})

describe('the commands of clients', () => {
  const decisions = (journalled: Awaited<ReturnType<typeof runVerbs>>['journalled']) =>
    journalled('decision')
      .filter(({ rule }) => rule === 'api')
      .map(({ outcome }) => outcome)

  it('are in the journal of the call', async () => {
    const { engine, call_sid, journalled } = await runVerbs([answer, rest])
    const hook = { url: 'http://app.test/next', method: 'POST', username: null, password: null } as const
    await engine.calls.command(account_sid, call_sid, { tag: { order: 7 } })
    await engine.calls.command(account_sid, call_sid, { call_hook: hook })
    await engine.calls.hangUp(account_sid, call_sid)
    await settle()
    expect(decisions(journalled)).toEqual(['tag', 'another application', 'hang up'])
  })

  it('that come too early or too late say in which state the call is', async () => {
    const early = await runVerbs([rest])
    const late = await runVerbs([answer, rest])
    const end = ({ engine, call_sid }: typeof early, call_status: 'completed' | 'no-answer') => {
      return engine.calls.command(account_sid, call_sid, { call_status })
    }
    await expect(end(early, 'completed')).rejects.toThrow('the call has not been answered')
    await expect(end(late, 'no-answer')).rejects.toThrow('the call has been answered')
    expect(decisions(early.journalled)).toEqual([])
  })

  it('without another status hook leave the first one', async () => {
    const { engine, call_sid, dialog } = await runVerbs([answer, rest])
    const hook = { url: 'http://app.test/next', method: 'POST', username: null, password: null } as const
    await engine.calls.command(account_sid, call_sid, { call_hook: hook })
    await settle()
    dialog().hangUp()
    const last = engine.store.batches.flatMap(({ notifications }) => notifications).at(-1)
    expect(last?.hook.url).toBe('http://app.test/status')
  })

  it('redirect with the id of the verb that runs', async () => {
    const menu = verb('menu', (can, { signal }) => can.time.wait(60_000, signal), { id: 'menu' })
    const { engine, call_sid } = await runVerbs([answer, menu])
    const hook = { url: 'http://app.test/next', method: 'POST', username: null, password: null } as const
    await engine.calls.command(account_sid, call_sid, { call_hook: hook })
    await settle()
    expect(engine.hooks.payloadsOf('/next')).toMatchObject([{ verb_id: 'menu', call_sid }])
  })
})

describe('the messages of a call', () => {
  it('are in its journal, from the INVITE that came', async () => {
    const engine = platform()
    const held = heldAnswer()
    engine.hooks.answers.set('/call', held.answer)
    const invite = new ScriptedInvite({ to: 'app-x@example.com', callId: 'wire@test' })
    const { request, raw, remote, callId } = engine.ring({ callId: invite.callId })
    engine.calls.wire({ direction: 'received', callId, message: request, raw, remote })
    await settle()
    const bye = sipRequest('BYE')
    engine.calls.wire({ direction: 'received', callId, message: bye, raw: Buffer.from('BYE'), remote })
    const [live] = engine.calls.list(account_sid)
    const messages = engine.calls
      .journal(account_sid, live?.call_sid ?? '')
      ?.flatMap((event) => (event.type === 'sip' ? [event.summary] : []))
    expect(messages).toEqual(['INVITE', 'BYE'])
  })

  it('are in its journal, from the INVITE that was sent', async () => {
    const engine = platform()
    const { call_sid, call_id: callId } = await placeOn(engine, callRequest)
    const { remote } = phone
    const wire = (summary: string) =>
      engine.calls.wire({
        direction: 'sent',
        callId,
        message: sipRequest(summary),
        raw: Buffer.from(summary),
        remote,
      })
    wire('INVITE')
    await engine.calls.hangUp(account_sid, call_sid)
    wire('CANCEL')
    await settle()
    const messages = engine.store
      .journalOf(call_sid)
      .flatMap((event) => (event.type === 'sip' ? [event.summary] : []))
    expect(messages).toEqual(['INVITE', 'CANCEL'])
    // An hour later the call is forgotten, and late messages belong to no call.
    engine.clock.advance(3_600_000)
    expect(engine.calls.find(account_sid, call_sid)).toBeUndefined()
    const before = engine.store.batches.length
    wire('BYE')
    await settle()
    expect(engine.store.batches).toHaveLength(before)
  })

  it('of a caller that was turned away are in none', async () => {
    const engine = platform()
    engine.authentication = { verdict: 'challenge', reply: { status: 401 } }
    const { request, raw, remote, callId } = engine.ring({ callId: 'twice@test' })
    engine.calls.wire({ direction: 'received', callId, message: request, raw, remote })
    await settle()
    engine.calls.wire({ direction: 'received', callId, message: sipRequest('ACK'), raw, remote })
    engine.authentication = createScriptedEngine(parsePlainVerbs).authentication
    engine.ring({ callId })
    await settle()
    const [live] = engine.calls.list(account_sid)
    const messages = engine.calls
      .journal(account_sid, live?.call_sid ?? '')
      ?.flatMap((event) => (event.type === 'sip' ? [event.summary] : []))
    expect(messages).toEqual(['INVITE'])
  })
})
