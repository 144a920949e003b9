import { expect, it } from 'vitest'
import { profileNamed, protectionOf } from './profiles.ts'

it.each([
  ['RTP/AVP', 'none'],
  ['RTP/AVPF', 'none'],
  ['RTP/SAVP', 'sdes'],
  ['RTP/SAVPF', 'sdes'],
  ['UDP/TLS/RTP/SAVPF', 'dtls'],
  ['rtp/avp', undefined],
  ['udptl', undefined],
  ['toString', undefined],
])('the profile %s is protected by: %s', (protocol, protection) => {
  const profile = profileNamed(protocol)
  expect(profile && protectionOf(profile)).toBe(protection)
})
