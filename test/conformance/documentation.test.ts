// The served OpenAPI document leaves nothing for its reader to guess.
import { describe, expect, it } from 'vitest'
import { documented } from '../support/documented.ts'
import type { OpenApiDocument } from '../support/documented.ts'
import { documentationFaults } from './api/documentation-faults.ts'

describe('the OpenAPI document', () => {
  it('says of every operation, parameter, member and status what it means, and of every error its codes', () => {
    expect(documentationFaults(documented().document)).toEqual([])
  })

  it('would be caught leaving something out', () => {
    const document: OpenApiDocument = {
      openapi: '3.1.0',
      paths: {
        '/Things/{ThingSid}': {
          put: {
            operationId: 'updateThing',
            tags: [],
            summary: 'Changes a thing.',
            parameters: [{ name: 'ThingSid', in: 'path', required: true, schema: {} }],
            requestBody: {
              content: { 'application/json': { schema: { anyOf: [{ properties: { a: {} } }] } } },
            },
            responses: {
              200: {
                description: 'Done.',
                content: { 'application/json': { schema: { items: { properties: { b: {} } } } } },
              },
              404: { description: 'None.', content: { 'application/json': { schema: {} } } },
            },
          },
        },
      },
      components: { schemas: { Thing: { properties: { c: { properties: { d: {} }, description: 'C.' } } } } },
    }
    expect(documentationFaults(document)).toEqual([
      'PUT /Things/{ThingSid}: tags',
      'PUT /Things/{ThingSid}: description',
      'PUT /Things/{ThingSid}: parameter ThingSid',
      'PUT /Things/{ThingSid}: body.a',
      'PUT /Things/{ThingSid}: response 200[].b',
      'PUT /Things/{ThingSid}: response 404 has no codes',
      'Thing.c.d',
    ])
  })
})
