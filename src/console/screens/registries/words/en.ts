export default {
  title: 'Registries',
} as const
