import { expect, it } from 'vitest'
import { shownUrl } from './shown-url.ts'

it.each([
  ['https://app.example.com/call', 'https://app.example.com/call'],
  ['https://app.example.com:8443/call?token=secret', 'https://app.example.com:8443/call?[redacted]'],
  ['https://ann:secret@app.example.com/call#rc=2', 'https://app.example.com/call'],
  ['wss://app.example.com/call?token=secret', 'wss://app.example.com/call?[redacted]'],
  ['/call?token=secret', '/call?[redacted]'],
  ['mailto:ann', 'mailto:ann'],
])('shows %s as %s', (url, shown) => {
  expect(shownUrl(url)).toBe(shown)
})
