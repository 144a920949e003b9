// The call that verbs see: passes on what they ask for to the leg, to the voice and to the hooks of the script.
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { PlayResult } from '../../media/media.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import type { Call, CollectRequest, Decline, HookForm, PlayRequest, Redirect, SayRequest } from '../call.ts'
import type { Collected } from '../digits/digit-collector.ts'
import type { NodeFacts } from '../journal/hook-payloads.ts'
import type { HookKind } from '../journal/journal.ts'
import type { Leg, RunningScript } from '../leg/leg.ts'
import { reasonHeader } from '../leg/refusals.ts'
import type { CallScript } from '../ports.ts'
import type { RunnableVerb } from '../verb.ts'
import { toHeaderFields } from './app-headers.ts'
import type { AppHooks } from './app-hooks.ts'
import { CallNotes } from './call-notes.ts'
import { CallVoice } from './call-voice.ts'
import { collectDigits } from './collect-digits.ts'
import { ScriptHooks } from './script-hooks.ts'
import type { AudioFetcher, Speech } from '../../contracts/speech.ts'
import type { Hook } from '../../contracts/hook.ts'

/** How the call reaches the verbs that run. `replace` leaves the running one alone, `interrupt` ends it; `currentId` is its id. */
export interface VerbQueue {
  replace(verbs: readonly RunnableVerb[]): void
  interrupt(verbs: readonly RunnableVerb[]): void
  readonly currentId: string | undefined
}

export interface VerbCallOptions {
  readonly leg: Leg
  readonly script: CallScript
  readonly hooks: AppHooks
  readonly queue: VerbQueue
  readonly speech: Speech
  readonly audio: AudioFetcher
  readonly clock: Clock
  readonly node: NodeFacts
  /** Where relative hooks lead: the URL that the script came from. */
  readonly base: string | undefined
}

const maxTagLength = 65_536

export class VerbCall implements Call, RunningScript {
  readonly #leg: Leg
  readonly #queue: VerbQueue
  readonly #clock: Clock
  readonly #notes: CallNotes
  readonly #voice: CallVoice
  readonly #hooks: ScriptHooks

  constructor(options: VerbCallOptions) {
    const { leg, queue, clock } = options
    this.#leg = leg
    this.#queue = queue
    this.#clock = clock
    this.#notes = new CallNotes(leg.journal)
    this.#hooks = new ScriptHooks(options)
    this.#voice = new CallVoice({
      ...options,
      notes: this.#notes,
      resolveUrl: (url) => this.#hooks.resolveUrl(url),
    })
  }

  get call_sid(): string {
    return this.#leg.call_sid
  }

  get isAnswered(): boolean {
    return this.#leg.isAnswered
  }

  get hasEnded(): boolean {
    return this.#leg.hasEnded
  }

  answer(): Promise<void> {
    return this.#leg.answer()
  }

  startEarlyMedia(): Promise<void> {
    return this.#leg.startEarlyMedia()
  }

  say(request: SayRequest): Promise<PlayResult> {
    return this.#voice.say(request)
  }

  play(request: PlayRequest): Promise<PlayResult> {
    return this.#voice.play(request)
  }

  hideDigits(isHidden: boolean | undefined): void {
    this.#leg.journal.hideDigits(isHidden)
  }

  collect(request: CollectRequest): Promise<Collected> {
    const onProblem = (error: AppError): void => this.problem(error)
    return collectDigits(request, { leg: this.#leg, clock: this.#clock, onProblem })
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    return sleep(ms, this.#clock, signal)
  }

  limit(ms: number, signal: AbortSignal): { readonly signal: AbortSignal; release(): void } {
    const limited = new AbortController()
    const abort = (): void => limited.abort()
    const timer = this.#clock.after(ms, abort)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    return {
      signal: limited.signal,
      release: () => {
        timer.cancel()
        signal.removeEventListener('abort', abort)
      },
    }
  }

  async ask(form: HookForm, fields: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void> {
    await this.#ask('action', this.#hooks.hookOf(form), fields, signal)
  }

  async redirect({ hook, statusHook, signal }: Redirect): Promise<void> {
    if (statusHook !== undefined) this.#leg.status.replaceHook(this.#hooks.hookOf(statusHook))
    await this.#ask('redirect', this.#hooks.hookOf(hook), {}, signal)
  }

  async takeOver(hook: Hook): Promise<void> {
    const queue = this.#queue
    const verb_id = queue.currentId
    const { signal } = this.#leg
    const take = (verbs: readonly RunnableVerb[]): void => queue.interrupt(verbs)
    await this.#hooks.ask({ kind: 'redirect', hook, fields: {}, verb_id, signal, take })
  }

  tag(data: object): void {
    if (JSON.stringify(data).length > maxTagLength)
      throw new AppError('bad_request', `tag: "data" is longer than ${maxTagLength} characters`)
    this.#leg.journal.add({ type: 'tagged', data })
  }

  hangUp(headers: Readonly<Record<string, unknown>> | undefined): void {
    const { fields } = this.#headers(headers)
    void this.#leg.hangUp({ headers: fields })
  }

  decline({ status, reason, headers }: Decline): void {
    const { fields } = this.#headers(headers)
    const phrase = reason === undefined ? reasonPhraseOf(status) : reasonHeader(reason).value
    this.#leg.decline({
      status,
      reason: phrase,
      headers: [...fields.filter(({ name }) => name !== 'x-reason'), reasonHeader('SIP Decline Verb')],
    })
  }

  problem(error: AppError): void {
    this.#notes.problem(error)
  }

  goWithout(error: AppError): void {
    this.#notes.goWithout(error)
  }

  note(sentence: string): void {
    this.#notes.note(sentence)
  }

  async #ask(
    kind: HookKind,
    hook: Hook,
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<void> {
    const queue = this.#queue
    const take = (verbs: readonly RunnableVerb[]): void => queue.replace(verbs)
    await this.#hooks.ask({ kind, hook, fields, verb_id: queue.currentId, signal, take })
  }

  #headers(headers: Readonly<Record<string, unknown>> | undefined): ReturnType<typeof toHeaderFields> {
    const result = toHeaderFields(headers)
    if (result.refused.length > 0)
      this.note(`these headers may not be set and were left out: ${result.refused.join(', ')}`)
    return result
  }
}
