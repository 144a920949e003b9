// Errors of an application: in its hooks, and in the audio that it plays, speaks and hears.
import type { CatalogueEntry } from './catalogue-entry.ts'

export const applicationErrors = {
  hook_bad_url: {
    cause: 'The URL of a hook is not one that can be requested.',
    http: 400,
    sip: 480,
    cure: 'Give an absolute http, https, ws or wss URL without a user name or password in it, or a path that starts with "/".',
  },
  hook_unreachable: {
    cause: 'No connection to the URL could be made, or it broke before the answer.',
    http: 480,
    sip: 480,
    cure: 'Check that the hook URL answers from this machine.',
  },
  hook_refused_address: {
    cause:
      'The URL leads to a private or reserved address, which customers may not reach through the platform.',
    http: 480,
    sip: 480,
    cure: 'Add the network to SWITCHHOOK_WEBHOOK_ALLOW if the hook is meant to be inside.',
  },
  hook_timeout: {
    cause:
      'The hook did not answer within its time budget: 10 s until the answer begins and 20 s in all, for a registration hook 3 s and 5 s.',
    http: 480,
    sip: 480,
    cure: 'Answer sooner, and do long work after the answer.',
  },
  hook_bad_status: {
    cause: 'The application answered with a status other than 2xx.',
    http: 480,
    sip: 480,
    cure: 'Answer the hook with 200 and a JSON array of verbs.',
  },
  hook_too_large: {
    cause: 'The answer of the hook is longer than the platform reads.',
    http: 480,
    sip: 480,
    cure: 'Answer with a shorter array of verbs.',
  },
  hook_invalid_payload: {
    cause: 'The answer is not JSON, or not a list of verbs the platform knows.',
    http: 480,
    sip: 480,
    cure: 'Answer with a JSON array of verbs as docs/reference/verbs.md describes.',
  },
  invalid_frame: {
    cause: 'An application over WebSocket sent a message that is neither an ack nor a command.',
    http: 400,
    sip: 480,
    cure: 'Send JSON texts of type ack or command, as docs/reference/websocket.md describes.',
  },
  application_ended: {
    cause: 'The application ended before it had answered the call.',
    http: 480,
    sip: 603,
    cure: 'Answer the call in the application, or choose a status with sip:decline.',
  },
  audio_not_found: {
    cause: 'The URL of the audio did not respond with a file.',
    http: 404,
    cure: 'Check that the URL responds with status 200 and an audio file.',
  },
  audio_not_supported: {
    cause: 'The file is not in a format that can be played.',
    http: 415,
    cure: 'Serve WAV (PCM of 8 to 32 bit, floating point or G.711), MP3 or Ogg/Opus, of one or two channels.',
  },
  speech_failed: {
    cause: 'The speech vendor refused the request or failed.',
    http: 422,
    cure: 'Check the speech vendor, voice and language of the application.',
  },
  synthesizer_unknown: {
    cause:
      'The application names a speech vendor that this platform does not have, or that has no credential.',
    http: 422,
    cure: 'Name a vendor that this platform has and that has a credential, or leave it out for the embedded voice.',
  },
  recognizer_unknown: {
    cause:
      'The application asks for speech recognition by a vendor that this platform does not have, or for which there is no credential.',
    http: 422,
    cure: 'Set speech_recognizer_vendor of the application, or `recognizer.vendor` of the verb, and add a speech credential for it with use_for_stt.',
  },
  recognition_failed: {
    cause: 'The vendor of speech recognition refused the call, or its connection broke several times.',
    http: 422,
    cure: 'Try the credential with GET SpeechCredentials/{SpeechCredentialSid}/test, and name a fallback vendor.',
  },
} as const satisfies Record<string, CatalogueEntry>
