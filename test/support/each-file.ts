// Around each test file: gives back what its process holds for it, since the next file runs in the same process.
import { afterAll } from 'vitest'
import { releasePorts } from './ports.ts'

// Enough to find a fault. vitest wants a hundred, and a refusal is an error too: the traces of all that are expected took a
// tenth of the time of a random history.
Error.stackTraceLimit = 15

afterAll(releasePorts)
