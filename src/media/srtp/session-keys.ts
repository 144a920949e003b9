// The keys of one direction, derived from its master key: RFC 3711 §4.3, with a key derivation rate of 0.
import { createCipheriv } from 'node:crypto'
import { suites, type MasterKey } from './suites.ts'

export interface SessionKeys {
  readonly encryption: Buffer
  readonly authentication: Buffer
  readonly salt: Buffer
}

const authenticationBytes = 20

/** The first of three labels, for RTP and for RTCP (RFC 3711 §4.3.1 and §4.3.2). */
const firstLabels = { rtp: 0, rtcp: 3 } as const

export function deriveKeys({ suite, key }: MasterKey, kind: keyof typeof firstLabels): SessionKeys {
  const { keyBytes, saltBytes } = suites[suite]
  const label = firstLabels[kind]
  return {
    encryption: derive(key, keyBytes, label, keyBytes),
    authentication: derive(key, keyBytes, label + 1, authenticationBytes),
    salt: derive(key, keyBytes, label + 2, saltBytes),
  }
}

/**
 * Encrypts zeros by AES in counter mode. The counter begins with the master salt combined with the label; a salt of 12
 * octets is followed by zeros (RFC 7714 §11).
 */
function derive(key: Uint8Array, keyBytes: number, label: number, bytes: number): Buffer {
  const counter = Buffer.alloc(16)
  counter.set(key.subarray(keyBytes))
  counter.writeUInt8(counter.readUInt8(7) ^ label, 7)
  const cipher = createCipheriv(`aes-${keyBytes === 32 ? 256 : 128}-ctr`, key.subarray(0, keyBytes), counter)
  return cipher.update(Buffer.alloc(bytes))
}
