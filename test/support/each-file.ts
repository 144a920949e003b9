// Setup of each test file: at its end it releases the ports that its process holds, for the next file in the same
// process.
import { afterAll } from 'vitest'
import { releasePorts } from './ports.ts'

// Long enough to find a fault. Vitest sets a hundred, and a refusal is an Error too: the traces of all expected
// refusals took a tenth of the time of a random history.
Error.stackTraceLimit = 15

afterAll(releasePorts)
