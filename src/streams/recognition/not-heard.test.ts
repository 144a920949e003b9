import { describe, expect, it } from 'vitest'
import { vendorOfEars } from './index.ts'
import { adviceFor, notHeard } from './not-heard.ts'

describe('vendors that are not heard', () => {
  it.each(Object.keys(notHeard))('%s is not in the list of those that are', (vendor) => {
    expect(vendorOfEars(vendor)).toBeUndefined()
  })

  it.each(Object.entries(notHeard))('%s has advice that can be followed', (vendor, { instead }) => {
    for (const one of instead) expect(vendorOfEars(one), one).toBeDefined()
    expect(adviceFor(vendor)).toMatch(/: take .+ as recognizer\.vendor$/)
  })

  it('have no advice for other names', () => {
    expect(adviceFor('deepgram')).toBeUndefined()
    expect(adviceFor('constructor')).toBeUndefined()
  })
})
