export default {
  title: 'Lending',
} as const
