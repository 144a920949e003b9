// The early dialogs of one INVITE of this side: one for each place that rings (RFC 3261 §13.2.2.4).
import { headerOf, type SipRequest, type SipResponse } from '../message/message.ts'
import { tagOf } from '../message/name-addr.ts'
import type { Remote } from '../transport/transports.ts'
import type { DialogState } from './dialog-state.ts'
import { EarlyDialog, type EarlyDialogOptions } from './early-dialog.ts'

export interface EarlyDialogsOptions extends Pick<
  EarlyDialogOptions,
  'core' | 'call' | 'contact' | 'credentials' | 'mayReach' | 'listener' | 'user'
> {
  readonly keepsTransport: () => boolean
  /** Called when the far end has ended the last of them with BYE. */
  readonly ended: () => void
}

export interface Provisional {
  readonly response: SipResponse
  readonly invite: SipRequest
  /** The destination of the INVITE. */
  readonly source: Remote
}

// A proxy forks to a handful of places. Further tags open no early dialog.
const maxDialogs = 16

export class EarlyDialogs {
  readonly #options: EarlyDialogsOptions
  readonly #byTag = new Map<string, EarlyDialog>()

  constructor(options: EarlyDialogsOptions) {
    this.#options = options
  }

  /** Returns false for a response that the owner must not receive: RFC 3262 §4. */
  provisional(provisional: Provisional): boolean {
    const { response } = provisional
    const tag = tagOf(headerOf(response, 'to'))
    if (tag === undefined) return true
    const dialog = this.#byTag.get(tag) ?? this.#open(tag, provisional)
    return dialog?.provisional(response) ?? true
  }

  /** Returns the state of the early dialog that this 2xx confirms; undefined if there is none. */
  confirmed(response: SipResponse): DialogState | undefined {
    return this.#byTag.get(tagOf(headerOf(response, 'to')) ?? '')?.confirmed(response)
  }

  /** Discards them, when the INVITE is sent again or can have no answer any more. */
  clear(): void {
    this.stop()
    this.#byTag.clear()
  }

  /** Accepts no more requests in them. Their states are kept, since a 2xx may still confirm one of them. */
  stop(): void {
    for (const dialog of this.#byTag.values()) dialog.stop()
  }

  #open(tag: string, { response, invite, source }: Provisional): EarlyDialog | undefined {
    if (this.#byTag.size >= maxDialogs) return undefined
    const { keepsTransport, ended, ...shared } = this.#options
    const dialog = new EarlyDialog({
      ...shared,
      response,
      invite,
      source,
      keepsTransport: keepsTransport(),
      ended: () => {
        this.#byTag.delete(tag)
        if (this.#byTag.size === 0) ended()
      },
    })
    this.#byTag.set(tag, dialog)
    return dialog
  }
}
