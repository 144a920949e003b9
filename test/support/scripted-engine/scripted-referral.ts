// A REFER of a far end that a test controls, with its response and its NOTIFYs.
import type { Dialog, IncomingReferral, ReferSubscription, Reply } from '../../../src/sip/sip.ts'
import { sipRequest } from './scripted-messages.ts'

export interface ScriptedReferralOptions {
  readonly referTo?: string
  /** The dialog that its Replaces names; null if it is unknown here. */
  readonly replaces?: Dialog | null | undefined
  readonly isEarlyOnly?: boolean
}

export class ScriptedReferral implements IncomingReferral {
  readonly request = sipRequest('REFER', {
    headers: [
      { name: 'refer-to', value: '<sip:carol@example.com>' },
      { name: 'user-agent', value: 'a phone' },
      { name: 'x-reason', value: 'lunch' },
    ],
  })
  readonly referTo: string
  readonly displayName = undefined
  readonly replaces: IncomingReferral['replaces']
  readonly replaced: Dialog | undefined
  readonly headers = []
  readonly referredBy = '<sip:alice@example.com>'
  /** The statuses of its NOTIFYs, without the immediate 100. */
  readonly notified: number[] = []
  /** The status of its final response. */
  answer: number | undefined

  constructor({
    referTo = 'sip:alice@example.com',
    replaces,
    isEarlyOnly = false,
  }: ScriptedReferralOptions = {}) {
    this.referTo = referTo
    this.replaced = replaces ?? undefined
    this.replaces =
      replaces === undefined ? undefined : { callId: 'x', toTag: 'a', fromTag: 'b', isEarlyOnly }
  }

  accept(): ReferSubscription {
    this.answer ??= 202
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const notify = (status: number): void => {
      this.notified.push(status)
      if (status >= 200) resolve()
    }
    return { notify, done }
  }

  reject({ status }: Reply): void {
    this.answer ??= status
  }
}
