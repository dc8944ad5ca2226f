export default {
  title: 'Lending queue',
} as const
