// The form of protection that the suite of a key names.
import { CounterSeal } from './counter-seal.ts'
import { GcmSeal } from './gcm-seal.ts'
import type { Seal } from './seal.ts'
import { deriveKeys } from './session-keys.ts'
import { suites, type MasterKey } from './suites.ts'

export function createSeal(master: MasterKey, kind: 'rtp' | 'rtcp'): Seal {
  const { mode, tagBytes } = suites[master.suite]
  const keys = deriveKeys(master, kind)
  if (mode === 'gcm') return new GcmSeal(keys)
  // Reports have the long tag also in suites with a shorter tag for RTP: RFC 4568 §6.2.2.
  return new CounterSeal(keys, kind === 'rtcp' ? 10 : tagBytes)
}
