// An application over a WebSocket: questions are messages, acks have verbs. Hooks are sent as they were written.
import type { Hook } from '../../contracts/hook.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import type { Answerer, Notice, Question, VerbsAnswer } from './application.ts'
import { resolveUrl, toHook, toHttpUrl, wayOf, type HookForm } from '../verb/hook-form.ts'
import { factsOf, isEmpty, noteFailure } from './http-application.ts'
import type { HookKind } from '../journal/journal.ts'
import type { CallScript } from '../ports.ts'
import type { Channel } from '../channel/channel.ts'
import type { SentFrame } from '../channel/frames.ts'
import type { ApplicationNeeds } from './needs.ts'

export interface SocketApplicationOptions {
  readonly script: CallScript
  readonly needs: ApplicationNeeds
  readonly channel: Channel
  /** The call ran over another socket before: a redirect continues a session, and does not begin one. */
  readonly followsSocket: boolean
}

/** The message types. Messages that begin a session have no hook: it is that of the URL. */
const types: Readonly<Partial<Record<HookKind, SentFrame['type']>>> = {
  call: 'session:new',
  adulting: 'session:adulting',
  redirect: 'session:redirect',
  confirm: 'dial:confirm',
}

export class SocketApplication implements Answerer {
  readonly channel: Channel
  readonly #options: SocketApplicationOptions

  constructor(options: SocketApplicationOptions) {
    this.channel = options.channel
    this.#options = options
  }

  async ask({ leg, kind, hook: form, fields, payload, signal }: Question): Promise<VerbsAnswer> {
    const { script, needs, channel, followsSocket } = this.#options
    const { journal } = leg
    const url = shownUrl(wayOf(form) === 'relative' ? channel.url : urlOf(form))
    journal.note({ type: 'hook-asked', hook: kind, method: 'WS', url })
    const started = needs.clock.monotonic()
    try {
      const data = payload ?? { ...factsOf(leg, needs), ...fields }
      const hook = kind === 'call' ? {} : { hook: urlOf(form) }
      const continues = kind === 'adulting' || (kind === 'redirect' && followsSocket)
      const type = channel.isNew && !continues ? 'session:new' : (types[kind] ?? 'verb:hook')
      const given = await channel.ask({ type, call_sid: leg.call_sid, ...hook, data }, signal)
      const { account_sid } = script
      const verbs = isEmpty(given) ? [] : await needs.readVerbs(given, { account_sid, signal })
      journal.note({
        type: 'hook-answered',
        hook: kind,
        url,
        duration_ms: Math.round(needs.clock.monotonic() - started),
        attempts: 1,
        verbs: verbs.map(({ name }) => name),
      })
      return { by: this, verbs, contentType: 'ack' }
    } catch (error) {
      const ms = needs.clock.monotonic() - started
      const failure = noteFailure({ leg, kind, url, signal, error, ms })
      if (failure.code === 'hook_invalid_payload') this.#tellFault(leg.call_sid, failure.message)
      throw failure
    }
  }

  async tell({ leg, hook: form, payload: data }: Notice): Promise<void> {
    const type = this.channel.isNew ? 'session:new' : 'verb:hook'
    await this.channel.ask({ type, call_sid: leg.call_sid, hook: urlOf(form), data })
  }

  resolveUrl(url: string): string {
    return resolveUrl(url, toHttpUrl(this.channel.url))
  }

  hookOf(form: HookForm): Hook {
    return toHook(form, { base: this.channel.url, application: this.#options.script.call_hook })
  }

  #tellFault(call_sid: string, msg: string): void {
    const data = { msg: 'InvalidMessage', details: msg }
    this.channel.tell({ type: 'jambonz:error', call_sid, data })
  }
}

function urlOf(form: HookForm): string {
  return typeof form === 'string' ? form : form.url
}
