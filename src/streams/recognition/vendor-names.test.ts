import { expect, it } from 'vitest'
import { allVendors, vendorOfEars } from './index.ts'
import { heardVendors } from './vendor-names.ts'

it('the names of vendors are those of the vendors', () => {
  expect(allVendors.map(({ name }) => name).toSorted()).toEqual([...heardVendors].toSorted())
})

it('custom:<name> and polly lead to their vendors', () => {
  expect(['custom:mine', 'polly', 'none'].map((name) => vendorOfEars(name)?.name)).toEqual([
    'custom',
    'aws',
    undefined,
  ])
})
