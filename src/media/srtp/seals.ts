// The seal of each suite.
import { CounterRtcpSeal, CounterRtpSeal } from './counter-seal.ts'
import { GcmRtcpSeal, GcmRtpSeal } from './gcm-seal.ts'
import type { RtcpSeal, RtpSeal } from './seal.ts'
import { deriveKeys } from './session-keys.ts'
import { suites } from './suites.ts'
import type { MasterKey } from './suites.ts'

export function rtpSealOf(master: MasterKey): RtpSeal {
  const { form, tagBytes } = suites[master.suite]
  const keys = deriveKeys(master, 'rtp')
  return form === 'gcm' ? new GcmRtpSeal(keys) : new CounterRtpSeal(keys, tagBytes)
}

export function rtcpSealOf(master: MasterKey): RtcpSeal {
  const keys = deriveKeys(master, 'rtcp')
  return suites[master.suite].form === 'gcm' ? new GcmRtcpSeal(keys) : new CounterRtcpSeal(keys)
}
