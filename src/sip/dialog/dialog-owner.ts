// The listener of a dialog, which may be set after the first events, and whose exceptions are caught and logged.
import type { Logger } from '../../lib/log.ts'
import type { DialogListener } from '../dialogs.ts'
import type { Reply } from '../message/reply.ts'
import { failure } from '../refusal.ts'

export class DialogOwner {
  readonly #log: Logger
  readonly #callId: string
  readonly #listening = Promise.withResolvers<DialogListener>()

  constructor(log: Logger, callId: string) {
    this.#log = log
    this.#callId = callId
  }

  listen(listener: DialogListener): void {
    this.#listening.resolve(listener)
  }

  async ask(question: (listener: DialogListener) => Promise<Reply>): Promise<Reply> {
    try {
      return await question(await this.#listening.promise)
    } catch (error) {
      this.#log.error({ err: error, callId: this.#callId }, 'dialog listener failed')
      return failure()
    }
  }

  tell(news: (listener: DialogListener) => void): void {
    this.#listening.promise.then(news).catch((error: unknown) => {
      this.#log.error({ err: error, callId: this.#callId }, 'dialog listener failed')
    })
  }
}
