// The ability to stream the audio of a call to an audio server, and to play audio from it.
import { AppError } from '../../lib/errors.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import type { Application } from '../application/application.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import { oneOfTwo } from '../leg/leg-story.ts'
import { Whispers } from '../bridge/whispers.ts'
import type { Leg } from '../leg/leg.ts'
import { openStream } from '../leg/open-stream.ts'
import { noteProblem } from '../leg/note-problem.ts'
import type {
  ListenOutcome,
  ListenRequest,
  StreamOptions,
  StreamPlan,
  Streaming,
} from '../verb/stream-request.ts'
import type { AbilityNeeds } from './needs.ts'

export interface StreamingOptions {
  readonly leg: Leg
  readonly application: Pick<Application, 'hookOf'>
  readonly needs: AbilityNeeds
  readonly nested: Pick<NestedVerbs, 'beside'>
}

export function createStreaming({ leg, application, needs, nested }: StreamingOptions): Streaming {
  const { streams, node, clock } = needs
  return {
    plan: (options) => toPlan(options, application),
    begin(name, plan) {
      leg.streams.close(name)
      try {
        leg.streams.add(name, openStream(plan, { name, leg, streams, node }))
      } catch (error) {
        noteProblem(leg, error)
      }
    },
    end: (name) => leg.streams.close(name),
    async listen(request: ListenRequest): Promise<ListenOutcome> {
      const { plan, finishOnKey, maxMs, signal } = request
      const since = clock.monotonic()
      const stream = openStream(plan, { name: 'listen', leg, streams, node })
      leg.streams.add('listen', stream)
      let digits = ''
      const stopKeys = leg.onDigit((digit) => {
        if (digits !== '' || !finishOnKey.includes(digit)) return
        digits = digit
        stream.close()
      })
      const stop = (): void => stream.close()
      const timer = maxMs === undefined ? undefined : clock.after(maxMs, stop)
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      const whispers = new Whispers(nested, () => undefined)
      leg.streams.whisper = (verbs) => {
        const start = whispers.whisper(leg, verbs)
        return () => {
          if (!leg.hasEnded) leg.journal.note({ type: 'whispered', ...oneOfTwo(leg) })
          return start()
        }
      }
      const { by } = await stream.ended
      leg.streams.whisper = undefined
      whispers.stop()
      signal.removeEventListener('abort', stop)
      timer?.cancel()
      stopKeys()
      return { durationMs: clock.monotonic() - since, digits, hasFailed: by === 'failed' || by === 'lost' }
    },
  }
}

function toPlan(options: StreamOptions, application: Pick<Application, 'hookOf'>): StreamPlan {
  const { url: given, auth } = options
  const hook = application.hookOf({ url: given, ...auth })
  const url = hook.url.replace(/^http(s?):\/\//i, 'ws$1://')
  if (!/^wss?:\/\//i.test(url) || !URL.canParse(url))
    throw new AppError(
      'hook_invalid_payload',
      `"url" must be a ws or wss address, or a path on the host of the application, and not ${shownUrl(given)}`,
    )
  const { username, password } = hook
  if (username === null || password === null) return { ...options, url, headers: {} }
  const basic = Buffer.from(`${username}:${password}`, 'utf8').toString('base64')
  return { ...options, url, headers: { authorization: `Basic ${basic}` } }
}
