/** Preloaded before the tests of a mutant. A fixed seed makes scores reproducible. */
import fc from 'fast-check'

// The first failing values are enough, so nothing is shrunk.
fc.configureGlobal({ seed: 1, endOnFailure: true })
