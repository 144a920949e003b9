// The response to an outgoing request as a stream: the sender is read at the pace of the reader, and no longer once
// the stream is destroyed.
import { Readable } from 'node:stream'
import type { Clock, Timer } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { AnswerHead, Outgoing, OutgoingRequest } from './outgoing.ts'

export interface StreamedAnswer extends AnswerHead {
  /** The body. It fails as the request does. A reader that stops before the end must destroy it. */
  readonly body: Readable
}

export interface StreamedRequest extends Omit<OutgoingRequest, 'answerBody'> {
  /** The longest wait for the next piece of the body. */
  readonly stallTimeoutMs: number
  /** Translates failures, before and after the head. */
  readonly toFailure?: (error: Error) => Error
}

/**
 * Resolves with the head. Throws AppError hook_* or the error that `toFailure` makes of it, or the signal's reason
 * when that aborts.
 */
export function streamAnswer(
  outgoing: Pick<Outgoing, 'request'>,
  clock: Clock,
  { stallTimeoutMs, toFailure = (error) => error, ...request }: StreamedRequest,
): Promise<StreamedAnswer> {
  const leaving = new AbortController()
  const signals = request.signal === undefined ? [] : [request.signal]
  const watch = createWatch(clock, stallTimeoutMs, () => {
    leaving.abort(new AppError('hook_timeout', `${request.subject} stopped in the middle of its answer`))
  })
  let goOn = (): void => {}
  const takeUp = (): void => {
    const go = goOn
    goOn = () => {}
    go()
  }
  const body = new Readable({
    read: takeUp,
    destroy(error, done) {
      watch.stop()
      leaving.abort(error ?? new Error('the answer is no longer read'))
      // A response that has ended still waits until its last piece is read, and would wait for ever.
      takeUp()
      done(error)
    },
  })
  // The stream may fail before its reader has it; a reader that comes later gets the error too.
  body.on('error', () => {})

  function take(chunk: Buffer): Promise<void> | undefined {
    if (body.push(chunk)) {
      watch.start()
      return undefined
    }
    watch.stop()
    return new Promise((resolve) => {
      goOn = () => {
        if (!body.destroyed) watch.start()
        resolve()
      }
    })
  }

  return new Promise((resolve, reject) => {
    const answerBody = (head: AnswerHead): typeof take => {
      watch.start()
      resolve({ ...head, body })
      return take
    }
    outgoing.request({ ...request, signal: AbortSignal.any([...signals, leaving.signal]), answerBody }).then(
      () => {
        watch.stop()
        body.push(null)
      },
      (error: Error) => {
        const failure = toFailure(error)
        reject(failure)
        body.destroy(failure)
      },
    )
  })
}

/** Returns a timer that calls `onStall` if it was started and neither stopped nor restarted in time. */
function createWatch(clock: Clock, timeoutMs: number, onStall: () => void) {
  let timer: Timer | undefined
  const stop = (): void => timer?.cancel()
  return {
    start(): void {
      stop()
      timer = clock.after(timeoutMs, onStall)
    },
    stop,
  }
}
