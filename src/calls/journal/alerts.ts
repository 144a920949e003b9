// The alerts of calls, made from journal events: every failure that a person should handle is an event there.
import { hookAlertType, type Alert, type Alerts } from '../../contracts/alert.ts'
import type { CallStore, JournalEvent } from './journal.ts'

/** Returns the store, extended to raise the alerts of the events that are written to it. */
export function createAlertingStore(store: CallStore, alerts: Alerts): CallStore {
  return {
    write(batch, urgency) {
      store.write(batch, urgency)
      const { account_sid, call_sid } = batch
      for (const event of batch.events) {
        const alert = toAlert(event)
        if (alert !== undefined) alerts.raise({ account_sid, call_sid, ...alert })
      }
    },
    refusal: () => store.refusal(),
    flush: () => store.flush(),
    adopt: () => store.adopt(),
    watch: (listener) => store.watch(listener),
  }
}

type AlertFacts = Pick<Alert, 'alert_type' | 'message' | 'detail'>

export function toAlert(event: JournalEvent): AlertFacts | undefined {
  if (event.type === 'hook-failed') {
    // The call has ended or other verbs have taken over: the application made the question superfluous.
    if (event.code === 'withdrawn') return undefined
    return { alert_type: hookAlertType(event), message: event.sentence, detail: event.url }
  }
  // A close with 1000 is normal. If the socket was never open, the failed hook request raises the alert.
  if (event.type === 'socket-closed' && event.isOpened === false) return undefined
  if (event.type === 'socket-closed' && event.by === 'application' && event.code !== 1000)
    return { alert_type: 'webhook-connection-failure', message: event.because, detail: event.url }
  if (event.type === 'alerted') return { alert_type: 'alert-from-application', message: event.message }
  if (event.type !== 'refusal' && event.type !== 'problem') return undefined
  const alert_type = alertsByCode.get(event.code)
  return alert_type === undefined ? undefined : { alert_type, message: event.sentence, detail: event.cure }
}

const alertsByCode: ReadonlyMap<string, string> = new Map([
  ['account_call_limit', 'account-call-limit'],
  ['account_share', 'account-call-limit'],
  ['service_provider_call_limit', 'service-provider-call-limit'],
  ['account_inactive', 'account is inactive or suspended'],
  ['speech_failed', 'tts-failure'],
  ['synthesizer_unknown', 'no-tts'],
  ['recognizer_unknown', 'no-stt'],
  ['recognition_failed', 'stt-failure'],
  ['no_carrier', 'no-carrier'],
  ['invalid_frame', 'invalid-app-payload'],
  ['no_media_port', 'no-media-port'],
  ['no_media_received', 'no-media'],
  ['no_media_delivered', 'no-media'],
  ['audio_not_found', 'play-url-notfound'],
  ['disk_full', 'disk-full'],
  ['stream_failed', 'webhook-connection-failure'],
  ['stream_lost', 'webhook-connection-failure'],
  ['siprec_failed', 'recording-failure'],
  ['siprec_unreadable', 'recording-failure'],
  ['recording_server_missing', 'recording-failure'],
  ['recording_refused', 'recording-failure'],
  ['recording_failed', 'recording-failure'],
])
