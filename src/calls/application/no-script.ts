// The empty script of a call that no application runs.
import type { CallScript } from '../ports.ts'

export function noScript(account_sid: string): CallScript {
  return {
    account_sid,
    call_hook: null,
    call_status_hook: null,
    app_json: null,
    speech_synthesis_vendor: null,
    speech_synthesis_language: null,
    speech_synthesis_voice: null,
    speech_synthesis_label: null,
    speech_recognizer_vendor: null,
    speech_recognizer_language: null,
    speech_recognizer_label: null,
    env_vars: null,
  }
}
