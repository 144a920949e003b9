// The Reason (RFC 3326) of each BYE by which the platform ends a call without an application that asked for it.
import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import type { ScriptedDialog } from '../../../test/support/scripted-engine/scripted-dialog.ts'
import type { ScriptedOutgoing } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { parseVerbs } from '../../verbs/index.ts'

const target = [{ type: 'user', name: 'alice' }]
const dial = { verb: 'dial', target, answerOnBridge: true }
const expiry = (text: string): string => `Q.850;cause=102;text="${text}"`

interface Two {
  readonly engine: ScriptedEngine
  readonly caller: ScriptedDialog
  readonly called: ScriptedDialog
}

async function ringing(
  verbs: readonly object[],
): Promise<{ engine: ScriptedEngine; called: ScriptedOutgoing }> {
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set(phone.aor, [phone])
  engine.hooks.on('/call', [...verbs])
  engine.ring()
  await calm()
  const [called] = engine.sent
  if (called === undefined) throw new Error('no one was called')
  return { engine, called }
}

async function talking(verbs: readonly object[] = [dial]): Promise<Two> {
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set(phone.aor, [phone])
  engine.hooks.on('/call', [...verbs])
  engine.hooks.answers.set('/gone', () => Promise.reject(new AppError('hook_bad_status', 'it said 500')))
  const invite = engine.ring()
  await calm()
  const [called] = engine.sent
  called?.answer()
  await calm()
  if (called === undefined || invite.dialog === undefined) throw new Error('the two do not talk')
  return { engine, caller: invite.dialog, called: called.dialog }
}

/** Returns what the BYEs to the two say: X-Reason-Code and Reason. */
const said = ({ caller, called }: Two): (string[] | undefined)[] =>
  [caller, called].map(({ sentBye }) =>
    sentBye?.flatMap(({ name, value }) => (name === 'x-reason' ? [] : [value])),
  )

/** Returns the codes of the failures in the records of the two. */
const failures = ({ engine }: Two): (string | undefined)[] =>
  ['inbound', 'outbound'].map(
    (side) => engine.store.records.find(({ direction }) => direction === side)?.failure?.code,
  )

describe('the BYE of the platform', () => {
  const silent = (cause: 'silent' | 'held' | 'gone', side: number) => (two: Two) => {
    two.engine.clock.advance(60_000)
    two.engine.media.sessions[side]?.emit({ type: 'timeout', cause, silentMs: 30_000, limitMs: 30_000 })
  }
  const unavailable = 'SIP;cause=480;text="Temporarily Unavailable"'
  const noService = 'SIP;cause=503;text="Service Unavailable"'

  it.each<[string, (two: Two) => unknown, (string[] | undefined)[], object[]?]>([
    [
      'the time limit of a dial',
      ({ engine }) => engine.clock.advance(30_000),
      [[expiry('Time Limit')], [expiry('Time Limit')]],
      [{ ...dial, timeLimit: 30 }],
    ],
    [
      'the longest time of a call',
      ({ engine }) => engine.clock.advance(180 * 60_000),
      [
        ['call_duration_limit', expiry('Max Call Duration')],
        ['call_duration_limit', expiry('Max Call Duration')],
      ],
    ],
    [
      'a silent caller',
      silent('silent', 0),
      [['media_timeout', expiry('Media Timeout')], [expiry('Media Timeout')]],
    ],
    [
      'a called side that holds too long',
      silent('held', 1),
      [[expiry('Hold Timeout')], ['hold_timeout', expiry('Hold Timeout')]],
    ],
    ['a media path that is lost', silent('gone', 0), [['media_path_lost', unavailable], [unavailable]]],
    [
      'a media worker that is lost',
      ({ engine }) => engine.media.sessions[0]?.emit({ type: 'lost' }),
      [['media_lost', noService], [noService]],
    ],
    [
      'a session of the caller that was not refreshed',
      ({ caller }) => caller.fail('session-expired'),
      [['sip_dialog_lost', expiry('Session Timeout')], [expiry('Session Timeout')]],
    ],
    [
      'an ACK that never came',
      ({ caller }) => caller.fail('ack-timeout'),
      [['sip_not_acknowledged', expiry('ACK Timeout')], [expiry('ACK Timeout')]],
    ],
    [
      'the hook of a redirect that fails',
      ({ called }) => called.hangUp(),
      [['hook_bad_status', unavailable], undefined],
      [dial, { verb: 'redirect', actionHook: '/gone' }],
    ],
    [
      'an action hook that fails',
      ({ called }) => called.hangUp(),
      [['hook_bad_status', unavailable], undefined],
      [{ ...dial, actionHook: '/gone' }],
    ],
    [
      'an action hook that fails, with the Reason of the called side',
      ({ called }) => called.hangUp([{ name: 'reason', value: 'Q.850;cause=16' }]),
      [['Q.850;cause=16'], undefined],
      [{ ...dial, actionHook: '/gone' }],
    ],
    [
      'a stop of the platform',
      ({ engine }) => engine.calls.hangUpAll('maintenance'),
      [
        ['stopping', noService],
        ['stopping', noService],
      ],
    ],
  ])('after %s says so, to both', async (_what, end, expected, verbs) => {
    const two = await talking(verbs)
    await end(two)
    await calm()
    expect(said(two)).toEqual(expected)
  })

  it.each<[string, (two: Two) => unknown, string | undefined]>([
    ['media of the caller', silent('silent', 0), 'media_timeout'],
    ['media of the called side', silent('gone', 1), 'media_path_lost'],
    ['a media worker', ({ engine }) => engine.media.sessions[1]?.emit({ type: 'lost' }), 'media_lost'],
    ['the ACK of the caller', ({ caller }) => caller.fail('ack-timeout'), 'sip_not_acknowledged'],
    ['the session of the called side', ({ called }) => called.fail('session-expired'), 'sip_dialog_lost'],
    ['nothing, since the caller hangs up', ({ caller }) => caller.hangUp(), undefined],
    ['nothing, since the called side hangs up', ({ called }) => called.hangUp(), undefined],
  ])('for the loss of %s is in the records of both', async (_what, end, code) => {
    const two = await talking()
    await end(two)
    await calm()
    expect(failures(two)).toEqual([code, code])
  })

  it('for the loss of the called side is not the failure of a caller whom verbs ran on', async () => {
    const two = await talking([dial, { verb: 'pause', length: 1 }])
    two.called.fail('session-expired')
    await calm()
    two.engine.clock.advance(1000)
    await calm()
    expect(failures(two)).toEqual([undefined, 'sip_dialog_lost'])
  })

  it('to a caller whom verbs ran on after the time limit of a dial has no Reason', async () => {
    const two = await talking([
      { ...dial, timeLimit: 30 },
      { verb: 'pause', length: 1 },
    ])
    two.engine.clock.advance(30_000)
    await calm()
    two.engine.clock.advance(1000)
    await calm()
    expect(said(two)).toEqual([[], [expiry('Time Limit')]])
  })

  it('is a CANCEL with the reason for a party that rang as long as it may', async () => {
    const { engine, called } = await ringing([{ ...dial, timeout: 7 }])
    engine.clock.advance(7000)
    await calm()
    expect(called.cancelled).toContainEqual({ name: 'reason', value: expiry('Ring Timeout') })
  })
})
