// The application of a call. Each hook decides whether it is sent over HTTP or over a socket. A relative hook goes to
// the server that the running verbs came from.
import type { Hook } from '../../contracts/hook.ts'
import { AppError } from '../../lib/errors.ts'
import type { Channel } from '../channel/channel.ts'
import type { CommandFrame } from '../channel/frames.ts'
import { openChannel } from '../channel/open-channel.ts'
import { SocketApplication } from './socket-application.ts'
import type { Leg } from '../leg/leg.ts'
import { toCallHookPayload } from '../journal/hook-payloads.ts'
import type { CallScript } from '../ports.ts'
import type { Answerer, Application, Notice, Question, Successor, VerbsAnswer } from './application.ts'
import { asksForSocket, toHook, wayOf, type HookForm, type HookWay } from '../verb/hook-form.ts'
import { HttpApplication } from './http-application.ts'
import type { ApplicationNeeds } from './needs.ts'

export interface RoutedOptions {
  readonly leg: Leg
  readonly script: CallScript
  readonly needs: ApplicationNeeds
}

/** The receiver of messages that an application sends by itself. */
export interface ChannelHearer {
  command(frame: CommandFrame): void
  resumed(data: unknown): void
  closed(): void
}

/** The most sockets of one call, one for each URL; further ones are refused. */
const maxChannels = 8
const sessionIsOver = 'the session is over'

export class RoutedApplication implements Application {
  readonly script: CallScript
  readonly #options: RoutedOptions
  readonly #channels: Map<string, Channel>
  #current: Answerer
  /** Undefined if this application runs beside another. */
  #hearer: ChannelHearer | undefined

  constructor(
    options: RoutedOptions,
    beside?: { readonly current: Answerer; readonly channels: Map<string, Channel> },
  ) {
    const { script, leg } = options
    this.script = script
    this.#options = options
    this.#channels = beside?.channels ?? new Map<string, Channel>()
    this.#current = beside?.current ?? this.#first()
    if (beside !== undefined) return
    this.#report()
    leg.session.onEmpty(() => {
      for (const channel of this.#channels.values()) channel.close(1000, sessionIsOver)
    })
  }

  get staysWhenIdle(): boolean {
    return this.#channel?.isUsable === true
  }

  /** The socket of the running verbs, or undefined if they came over HTTP. */
  get #channel(): Channel | undefined {
    return this.#current instanceof SocketApplication ? this.#current.channel : undefined
  }

  /** Sets the receiver of messages that the application sends by itself. */
  hear(hearer: ChannelHearer): void {
    this.#hearer = hearer
  }

  async ask(question: Question): Promise<VerbsAnswer> {
    const { hook, kind } = question
    const way = this.#wayOf(hook)
    if (way === 'relative') return await this.#current.ask(question)
    if (way === 'socket') return await this.#overSocket(question)
    if (this.#channel === undefined) return await this.#current.ask(question)
    const answer = await new HttpApplication(this.script, this.#options.needs).ask(question)
    // A single hook at another address does not change the application. A redirect does.
    return kind === 'redirect' ? answer : { ...answer, by: this.#current }
  }

  async tell(notice: Notice): Promise<void> {
    const way = this.#wayOf(notice.hook)
    if (way === 'relative') return await this.#current.tell(notice)
    if (way === 'http') return await new HttpApplication(this.script, this.#options.needs).tell(notice)
    const answerer = this.#socketTo(this.#absolute(notice.hook))
    const { leg, payload } = notice
    try {
      await answerer.tell({ ...notice, payload: this.#payloadFor(answerer, leg, payload) })
    } finally {
      // A socket that was opened after the session is not closed by its end.
      if (this.#options.leg.session.isOver) answerer.channel.close(1000, sessionIsOver)
    }
  }

  follow({ by }: Pick<VerbsAnswer, 'by'>): void {
    const former = this.#channel
    this.#current = by
    if (this.#hearer === undefined || this.#channel === former) return
    this.#report()
    for (const channel of this.#channels.values())
      if (channel !== this.#channel) channel.close(1000, 'another application took over')
  }

  beside(answer?: Pick<VerbsAnswer, 'by'>): Application {
    return new RoutedApplication(this.#options, {
      current: answer?.by ?? this.#current,
      channels: this.#channels,
    })
  }

  resolveUrl(url: string): string {
    return this.#current.resolveUrl(url)
  }

  hookOf(form: HookForm): Hook {
    return this.#current.hookOf(form)
  }

  successor(form: HookForm): Successor {
    const way = wayOf(form)
    const channel = this.#channel
    if (way === 'http' || (way === 'relative' && channel === undefined))
      return { call_hook: this.hookOf(form) }
    if (way === 'socket') return { call_hook: this.hookOf(form), adulting: form }
    const own = toHook(channel?.url ?? '', { base: undefined, application: this.script.call_hook })
    return { call_hook: { ...own, url: adultingUrl(own.url) }, adulting: form }
  }

  tellVerb(event: Readonly<Record<string, unknown>>): void {
    const { leg } = this.#options
    if (leg.session.settings.current.notifiesVerbs !== true) return
    this.#channel?.tell({ type: 'verb:status', call_sid: leg.call_sid, data: event })
  }

  /** Reports a command that is impossible or invalid. */
  tellError(call_sid: string, data: object): void {
    this.#channel?.tell({ type: 'jambonz:error', call_sid, data })
  }

  /** Closes the socket, as the first answer does not let the call begin. */
  giveUp(because: string): void {
    this.#channel?.close(1001, because)
  }

  #first(): Answerer {
    const { script, needs } = this.#options
    const { call_hook: hook } = script
    if (hook === null || wayOf(hook) !== 'socket') return new HttpApplication(script, needs)
    return this.#socketTo(hook)
  }

  async #overSocket(question: Question): Promise<VerbsAnswer> {
    const { leg, kind, payload, fields } = question
    const answerer = this.#socketTo(this.#absolute(question.hook))
    // These have the payload of a first message.
    if (!answerer.channel.isNew || kind === 'call' || kind === 'adulting') return await answerer.ask(question)
    const own = payload ?? { ...fields }
    return await answerer.ask({ ...question, payload: this.#payloadFor(answerer, leg, own) })
  }

  /** Returns the payload with all facts of the call before it, where it is the first message of a socket. */
  #payloadFor({ channel }: SocketApplication, leg: Leg, payload: object): object {
    if (!channel.isNew) return payload
    const { needs, script } = this.#options
    const facts = { facts: leg.journal.facts, script, node: needs.node() }
    return { ...toCallHookPayload(facts), ...payload }
  }

  /** A path goes to the server that the verbs came from, unless it has the method WS and they came over HTTP. */
  #wayOf(form: HookForm): HookWay {
    const way = wayOf(form)
    return way === 'relative' && asksForSocket(form) && this.#channel === undefined ? 'socket' : way
  }

  #absolute(form: HookForm): Hook {
    if (wayOf(form) === 'relative') return this.#current.hookOf(form)
    return toHook(form, { base: undefined, application: this.script.call_hook })
  }

  #socketTo(hook: Hook): SocketApplication {
    const { needs, script } = this.#options
    const channel = this.#channels.get(hook.url) ?? this.#open(hook)
    const followsSocket = this.#channel !== undefined
    return new SocketApplication({ script, needs, channel, followsSocket })
  }

  #open(hook: Hook): Channel {
    if (this.#channels.size >= maxChannels)
      throw new AppError('overloaded', `a call may have ${maxChannels} sockets at a time`)
    const { leg, needs } = this.#options
    const isCurrent = (): boolean => channel === this.#channel
    const user = {
      leg,
      command: (frame: CommandFrame) => this.#hearer?.command(frame),
      resumed: (data: unknown) => {
        if (isCurrent()) this.#hearer?.resumed(data)
      },
      closed: () => {
        this.#channels.delete(hook.url)
        if (isCurrent()) this.#hearer?.closed()
      },
    }
    const channel: Channel = openChannel(hook, user, needs)
    this.#channels.set(hook.url, channel)
    return channel
  }

  /** Sends the status to the current socket, unless a status hook over HTTP is set. */
  #report(): void {
    const { status } = this.#options.leg.session
    const channel = this.#channel
    status.tell = channel && ((call_sid, data) => channel.tell({ type: 'call:status', call_sid, data }))
  }
}

/** Returns the address of the new socket for a leg that becomes a call of its own. */
function adultingUrl(text: string): string {
  const url = new URL(text)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/adulting`
  return url.href
}
