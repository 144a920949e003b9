// The hook of a transcription: words are sent in their order, and words that may still change only if no request waits.
import type { HookForm, RecognizerForm } from '../../calls/verb.ts'
import type { Given } from './define-verb.ts'
import { latencyFields } from './recognizer.ts'

export const transcriptionHookText =
  'Sent with `speech` for what was said, and with `speech_event` for an event of the vendor. With `interim` of the recognizer it is also sent for words that may still change, as `is_final` false; such a request is left out while another one has no answer. The verbs in its answer run immediately, in place of those that run.'

// A hook that does not answer must not keep a call's words without end.
const maxWaiting = 50

export async function transcribeTo(
  hook: HookForm | undefined,
  recognizer: RecognizerForm | undefined,
  { hearing, hooks, settings, signal }: Given<'hearing' | 'hooks' | 'settings'>,
): Promise<void> {
  let waiting = 0
  let last = Promise.resolve()
  const send = (fields: Readonly<Record<string, unknown>>): void => {
    if (hook === undefined || waiting >= maxWaiting) return
    waiting += 1
    last = last.then(() => hooks.event(hook, fields, signal)).finally(() => (waiting -= 1))
  }
  await hearing.transcribe({
    recognizer,
    onSpeech(speech, { latency_ms }) {
      if (speech.is_final) send({ speech, ...latencyFields(latency_ms, settings.wantsLatency) })
      else if (waiting === 0) send({ speech })
    },
    onVendorEvent: (speech_event) => send({ speech_event }),
    signal,
  })
  await last
}
