// The steps that may occur in a random history of a session with several legs, and their execution one at a time.
import { AppError } from '../../../src/lib/errors.ts'
import type { ParseVerbs } from '../../../src/calls/verb/verb.ts'
import { createRandomBelow } from '../random.ts'
import { account, client, outboundCarrier, phone } from './scripted-facts.ts'
import { createScriptedEngine, type ScriptedEngine } from './scripted-engine.ts'
import { heldAnswer } from './scripted-hooks.ts'
import { settle } from './turns.ts'
import { confirms, holds, someCommand, someVerbs, type Random } from './random-verbs.ts'
import { ScriptedReferral } from './scripted-referral.ts'
import type { Replaced } from '../../../src/sip/sip.ts'
import { sipRequest, sipResponse } from './scripted-messages.ts'
import type { ScriptedInvite, ScriptedOutgoing } from './scripted-sip.ts'

export class Player {
  readonly random: Random
  readonly engine: ScriptedEngine
  readonly invite: ScriptedInvite
  readonly others: ScriptedInvite[] = []
  readonly wrongs: string[] = []
  finals = 0
  #unanswered = 0
  readonly #held = [heldAnswer(), heldAnswer(), heldAnswer(), heldAnswer()]
  readonly #steps: readonly (() => unknown)[]

  constructor(seed: number, parseVerbs: ParseVerbs) {
    const random = createRandomBelow(seed)
    this.random = random
    this.engine = createScriptedEngine(parseVerbs, random(8) === 0 ? { maxCalls: 1 + random(3) } : {})
    this.#furnish()
    const isDirect = random(10) === 0
    this.invite = this.engine.ring({
      ...(isDirect ? { to: 'alice@example.com' } : {}),
      ...(random(6) === 0 ? { body: '' } : {}),
    })
    this.#countFinals()
    this.#steps = this.#makeSteps()
  }

  #furnish(): void {
    const { engine, random } = this
    const { hooks } = engine
    const other = {
      ...phone,
      key: 'sip:alice@10.0.0.6;',
      contact: 'sip:alice@10.0.0.6',
      remote: { ...phone.remote, port: 40_001 },
    }
    engine.phones.set('alice@example.com', random(3) === 0 ? [phone, other] : [phone])
    engine.waysOut = [outboundCarrier('c1'), outboundCarrier('c2')]
    engine.client = client
    if (random(10) === 0) engine.account = { ...account, disable_cdrs: true }
    if (random(6) === 0) engine.limits = { account: random(3) }
    const [call, confirm, action, redirected] = this.#held
    if (random(8) > 0) call?.release(someVerbs(random))
    hooks.answers.set('/call', call?.answer ?? (() => Promise.resolve([])))
    hooks.answers.set('/confirm-held', confirm?.answer ?? (() => Promise.resolve([])))
    if (action !== undefined && random(3) === 0) hooks.answers.set('/dialled', action.answer)
    else this.#few('/dialled', () => someVerbs(random))
    this.#few('/confirm', () => confirms[random(confirms.length)])
    this.#few('/hold', () => holds[random(holds.length)])
    this.#few('/redirected', () => someVerbs(random))
    hooks.answers.set('/redirected-held', redirected?.answer ?? (() => Promise.resolve([])))
  }

  /** Limits the answers of a hook: without a network in between, one that always asks again would never end. */
  #few(path: string, answer: () => unknown): void {
    const { hooks } = this.engine
    hooks.answers.set(path, () => {
      if (hooks.payloadsOf(path).length > 4) return Promise.resolve([])
      if (this.random(10) === 0) return Promise.reject(new AppError('hook_unreachable', 'the hook is dead'))
      return Promise.resolve(answer())
    })
  }

  #countFinals(): void {
    const { invite } = this
    const accept = invite.accept.bind(invite)
    const reject = invite.reject.bind(invite)
    invite.accept = (reply) => {
      this.finals++
      return accept(reply)
    }
    invite.reject = (reply) => {
      if (invite.isOpen || invite.final !== undefined) this.finals++
      reject(reply)
    }
  }

  step(): void {
    this.#steps[this.random(this.#steps.length)]?.()
  }

  /** Makes the list of steps, once, since a run has 160,000 steps. A likelier step occurs in it more often. */
  #makeSteps(): readonly (() => unknown)[] {
    const { random, engine, invite } = this
    const session = (): (typeof engine.media.sessions)[number] | undefined =>
      engine.media.sessions[random(engine.media.sessions.length)]
    return [
      () => this.#callerLeaves(),
      () => invite.dialog?.isOver === false && invite.dialog.listener.confirmed(sipRequest('ACK')),
      () => engine.clock.advance(250),
      () => engine.clock.advance(1000),
      () => engine.clock.advance(2000),
      () => random(2) === 0 && session()?.emit({ type: 'lost' }),
      () =>
        random(2) === 0 &&
        session()?.emit({ type: 'timeout', cause: 'silent', silentMs: 20_000, limitMs: 0 }),
      () => session()?.press('12'),
      ...Array.from({ length: 4 }, () => () => this.#farEndsAreHeard()),
      () => this.#refuseOffers(),
      () => this.#pressInfo(),
      ...Array.from({ length: 3 }, () => () => this.#offer()),
      () => this.#failMedia(),
      () => this.#held[random(this.#held.length)]?.release(random(3) === 0 ? [] : someVerbs(random)),
      () => random(4) === 0 && void engine.calls.hangUpAll('maintenance'),
      ...Array.from({ length: 7 }, () => () => this.#farEnd()),
      () => this.#refer(),
      () => this.#ringAgain(),
      () => this.#refer(),
      ...Array.from({ length: 4 }, () => () => this.#ringing()?.answer()),
      ...Array.from({ length: 5 }, () => () => this.#command()),
      () => (random(4) === 0 ? this.#storm() : this.#command()),
    ]
  }

  #callerLeaves(): void {
    const { dialog } = this.invite
    const ways = [() => this.invite.cancel(), () => dialog?.hangUp(), () => dialog?.fail('ack-timeout')]
    ways[this.random(ways.length)]?.()
  }

  #failMedia(): void {
    const places = ['open', 'answer', 'wire', 'keys'] as const
    const at = places[this.random(places.length)]
    const error = new AppError('media_not_acceptable', 'it does not fit')
    if (at !== undefined && this.random(3) === 0) this.engine.media.failure = { at, error }
    else this.engine.media.failure = undefined
  }

  /** Has the far ends send from the addresses of their SDP: they may send their audio to each other from now on. */
  #farEndsAreHeard(): void {
    for (const session of this.engine.media.sessions)
      session.emit({ type: 'first-packet', ...session.remote, trust: 'sdp' })
  }

  /** Has a far end refuse offers, not respond to them, or accept them again. */
  #refuseOffers(): void {
    const { dialog } = this.random(2) === 0 ? this.invite : { dialog: this.#called()?.dialog }
    const ways = [
      () => sipResponse(488),
      () => sipResponse(491),
      () => new Promise<never>(() => undefined),
      () => sipResponse(200, { body: 'v=0 answer' }),
    ]
    if (dialog !== undefined) dialog.answers = ways[this.random(ways.length)] ?? dialog.answers
  }

  #pressInfo(): void {
    const { dialog } = this.random(2) === 0 ? this.invite : { dialog: this.#called()?.dialog }
    const info = { type: 'application/dtmf-relay', body: 'Signal=1\r\nDuration=100\r\n' }
    if (dialog?.isListenedTo === true && !dialog.isOver)
      void dialog.listener.requested(sipRequest('INFO', info))
  }

  /** Has a far end put the call on hold, or resume it. */
  #offer(): void {
    const { sessions } = this.engine.media
    for (const session of sessions) if (this.random(2) === 0) session.isHeld = !session.isHeld
    const { dialog } = this.random(2) === 0 ? this.invite : { dialog: this.#called()?.dialog }
    if (dialog?.isListenedTo === true && !dialog.isOver)
      void dialog.listener.offered('v=0', sipRequest('INVITE'))
  }

  #called(): ScriptedOutgoing | undefined {
    const { sent } = this.engine
    return sent[this.random(sent.length)]
  }

  #ringing(): ScriptedOutgoing | undefined {
    const open = this.engine.sent.filter(({ result }) => result === undefined)
    return open[this.random(open.length)]
  }

  #farEnd(): void {
    const called = this.#called()
    const refusals = [486, 404, 480, 503, 603]
    const tag = this.random(2) === 0 ? 'one' : 'two'
    const deeds: (() => void)[] = [
      () => called?.progress(180, undefined, tag),
      () => called?.progress(183, `v=0 early ${tag}`, tag),
      () => called?.progress(183, `v=0 early again ${tag}`, tag),
      () => called?.answer(undefined, tag),
      () => called?.answer(undefined, tag),
      () => called?.answer('', tag),
      () => called?.refuse(refusals[this.random(refusals.length)] ?? 486),
      () => called?.dialog.hangUp(),
      () => called?.dialog.fail('transport-error'),
    ]
    deeds[this.random(deeds.length)]?.()
  }

  /** Starts another call, with or without Replaces. */
  #ringAgain(): void {
    const { random, engine, invite, others } = this
    if (others.length === 2) return
    const { dialog } = this.#called() ?? invite
    const ringing = this.#ringing()
    const ways: (Replaced | undefined)[] = [
      undefined,
      dialog === undefined ? undefined : { kind: 'confirmed', dialog },
      ringing === undefined ? undefined : { kind: 'ringing', invite: ringing },
    ]
    const replaces = ways[random(ways.length)]
    others.push(engine.ring(replaces === undefined ? {} : { replaces }))
  }

  /** Has a phone transfer the other side to a user, or join two calls. */
  #refer(): void {
    const { random, engine, invite } = this
    const dialogs = [invite, ...this.others, ...engine.sent].flatMap(({ dialog }) =>
      dialog?.isListenedTo === true && !dialog.isOver ? [dialog] : [],
    )
    const replaces = random(2) === 0 ? dialogs[random(dialogs.length)] : undefined
    dialogs[random(dialogs.length)]?.listener.referred?.(new ScriptedReferral({ replaces }))
  }

  /** Sends more commands than may wait, to random legs. */
  #storm(): void {
    for (let count = this.random(40); count > 0; count--) this.#command()
  }

  #command(): void {
    const { calls } = this.engine
    const live = calls.list(account.account_sid)
    const sid = live[this.random(live.length)]?.call_sid
    if (sid === undefined) return
    this.#unanswered += 1
    const sent = calls.command(account.account_sid, sid, someCommand(this.random))
    sent
      .catch((error: unknown) => {
        if (!(error instanceof AppError) || error.code === 'internal') this.wrongs.push(String(error))
      })
      .finally(() => (this.#unanswered -= 1))
  }

  /** Waits for a random number of turns: from none to all that is ready to run. */
  async pass(): Promise<void> {
    const turns = this.random(7)
    if (turns === 6) {
      await settle()
      return this.#look()
    }
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
  }

  /** Checks that no leg hears the audio of a leg that is over. */
  #look(): void {
    const { sessions } = this.engine.media
    for (const session of sessions) {
      const heard = sessions.find(({ id }) => id === session.hears)
      if (!session.isClosed && heard?.isClosed === true)
        this.wrongs.push(`${session.id} hears ${heard.id}, which is closed`)
    }
  }

  /** Ends all that is left, from all sides at the same time. */
  async end(): Promise<void> {
    const { engine, invite } = this
    for (const held of this.#held) held.release([])
    if (this.random(2) === 0) await settle()
    invite.cancel()
    void engine.calls.hangUpAll('the end')
    invite.dialog?.hangUp()
    for (const other of this.others) {
      other.cancel()
      other.dialog?.hangUp()
    }
    for (const sent of engine.sent) sent.dialog.hangUp()
    await settle()
    await settle()
    engine.clock.advance(5000)
    await settle()
    const idle = engine.calls.drain().then(() => true)
    if (!(await Promise.race([idle, settle().then(() => false)])))
      this.wrongs.push('something is awaited for ever')
    if (this.#unanswered > 0) this.wrongs.push(`${this.#unanswered} commands are never answered`)
  }
}
