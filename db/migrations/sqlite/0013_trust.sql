CREATE TABLE `attested_repayments` (
	`chain_id` integer NOT NULL,
	`uid` text NOT NULL,
	`repayment_id` text,
	`at` integer NOT NULL,
	PRIMARY KEY(`chain_id`, `uid`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `attestations` (
	`chain_id` integer NOT NULL,
	`uid` text NOT NULL,
	`schema` text NOT NULL,
	`attester` text NOT NULL,
	`is_of_self` integer NOT NULL,
	`block_number` integer NOT NULL,
	`block_at` integer NOT NULL,
	`revoked_block` integer,
	`is_counted` integer NOT NULL,
	`is_demo` integer NOT NULL,
	PRIMARY KEY(`chain_id`, `uid`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `attestations_attester` ON `attestations` (`attester`,`schema`,`block_at`);--> statement-breakpoint
CREATE INDEX `attestations_block` ON `attestations` (`chain_id`,`block_number`);--> statement-breakpoint
CREATE INDEX `attestations_revoked` ON `attestations` (`chain_id`,`revoked_block`) WHERE revoked_block is not null;--> statement-breakpoint
CREATE TABLE `attester_addresses` (
	`address` text PRIMARY KEY NOT NULL,
	`registered_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `attester_wallets` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`owner_id` text,
	`address` text NOT NULL,
	`from_at` integer NOT NULL,
	`to_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `attester_wallets_address` ON `attester_wallets` (`address`,`from_at`);--> statement-breakpoint
CREATE INDEX `attester_wallets_owner` ON `attester_wallets` (`owner`,`owner_id`);--> statement-breakpoint
CREATE TABLE `chain_backfills` (
	`id` text PRIMARY KEY NOT NULL,
	`chain_id` integer NOT NULL,
	`address` text NOT NULL,
	`read_to` integer,
	`last_block` integer,
	`from_at` integer NOT NULL,
	`queued_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `chain_backfills_chain` ON `chain_backfills` (`chain_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `chain_backfills_address` ON `chain_backfills` (`chain_id`,`address`,`from_at`);--> statement-breakpoint
CREATE TABLE `chain_checkpoints` (
	`chain_id` integer NOT NULL,
	`block_number` integer NOT NULL,
	`block_hash` text NOT NULL,
	`block_at` integer NOT NULL,
	PRIMARY KEY(`chain_id`, `block_number`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `chain_syncs` (
	`chain_id` integer PRIMARY KEY NOT NULL,
	`contract` text NOT NULL,
	`start_block` integer NOT NULL,
	`counted_to` integer NOT NULL,
	`counted_to_hash` text,
	`counted_to_at` integer,
	`head` integer,
	`target` integer,
	`provider` text,
	`synced_at` integer,
	`last_error` text,
	`last_error_at` integer,
	`halted_because` text,
	`halted_at` integer,
	`rescanned_at` integer,
	`rescanned_to` integer,
	`rescan_end` integer,
	`rescan_missing` integer,
	`rescan_unknown` integer,
	`lease_holder` text,
	`lease_until` integer
) STRICT;
--> statement-breakpoint
CREATE TABLE `grants` (
	`address` text NOT NULL,
	`schema` text NOT NULL,
	`from_at` integer NOT NULL,
	`to_at` integer,
	PRIMARY KEY(`address`, `schema`, `from_at`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `ingestions` (
	`service_provider_id` text NOT NULL,
	`webhook_id` text NOT NULL,
	`received_at` integer NOT NULL,
	`payload` text NOT NULL,
	PRIMARY KEY(`service_provider_id`, `webhook_id`),
	FOREIGN KEY (`service_provider_id`) REFERENCES `service_providers`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `methodologies` (
	`id` text PRIMARY KEY NOT NULL,
	`lender_id` text NOT NULL,
	`methodology_version` text NOT NULL,
	`content_hash` text NOT NULL,
	`document_url` text NOT NULL,
	`status` text NOT NULL,
	`registered_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	FOREIGN KEY (`lender_id`) REFERENCES `lenders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `methodologies_version` ON `methodologies` (`lender_id`,`methodology_version`);--> statement-breakpoint
CREATE UNIQUE INDEX `methodologies_hash` ON `methodologies` (`lender_id`,`content_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `methodologies_active` ON `methodologies` (`lender_id`) WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE TABLE `revocations` (
	`chain_id` integer NOT NULL,
	`uid` text NOT NULL,
	`attester` text NOT NULL,
	`block_number` integer NOT NULL,
	PRIMARY KEY(`chain_id`, `uid`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `revocations_block` ON `revocations` (`chain_id`,`block_number`);--> statement-breakpoint
CREATE TABLE `service_provider_status_history` (
	`id` text PRIMARY KEY NOT NULL,
	`service_provider_id` text NOT NULL,
	`position` integer NOT NULL,
	`status` text NOT NULL,
	`actor` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`service_provider_id`) REFERENCES `service_providers`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `service_provider_status_history_position` ON `service_provider_status_history` (`service_provider_id`,`position`);--> statement-breakpoint
CREATE TABLE `service_providers` (
	`id` text PRIMARY KEY NOT NULL,
	`display_name` text NOT NULL,
	`archetype` text NOT NULL,
	`status` text NOT NULL,
	`sealed_secret` text NOT NULL,
	`previous_secret_until` integer,
	`successful_ingestion_count` integer NOT NULL,
	`last_successful_ingestion_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `service_providers_status` ON `service_providers` (`status`,`id`);--> statement-breakpoint
CREATE INDEX `service_providers_ranked` ON `service_providers` (`status`,successful_ingestion_count desc,last_successful_ingestion_at desc,`id`);--> statement-breakpoint
CREATE INDEX `service_providers_ranked_in` ON `service_providers` (`status`,`archetype`,successful_ingestion_count desc,last_successful_ingestion_at desc,`id`);--> statement-breakpoint
CREATE TABLE `trust_counts` (
	`name` text NOT NULL,
	`chain_id` integer NOT NULL,
	`value` integer NOT NULL,
	PRIMARY KEY(`name`, `chain_id`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `trust_registry` (
	`id` integer PRIMARY KEY NOT NULL,
	`generation` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TRIGGER service_provider_status_history_unchanged BEFORE UPDATE ON service_provider_status_history
BEGIN
  SELECT RAISE(ABORT, 'the history of a service provider cannot be changed or removed');
END;--> statement-breakpoint
CREATE TRIGGER service_provider_status_history_kept BEFORE DELETE ON service_provider_status_history
BEGIN
  SELECT RAISE(ABORT, 'the history of a service provider cannot be changed or removed');
END;--> statement-breakpoint
CREATE TRIGGER attester_addresses_unchanged BEFORE UPDATE ON attester_addresses
BEGIN
  SELECT RAISE(ABORT, 'an address that was registered stays so');
END;--> statement-breakpoint
CREATE TRIGGER attester_addresses_kept BEFORE DELETE ON attester_addresses
BEGIN
  SELECT RAISE(ABORT, 'an address that was registered stays so');
END;--> statement-breakpoint
INSERT INTO trust_registry (id, generation) VALUES (1, 0);--> statement-breakpoint
INSERT INTO trust_counts (name, chain_id, value)
SELECT 'lenders.total', 0, count(*) FROM lenders
UNION ALL SELECT 'lenders.active', 0, count(*) FROM lenders WHERE status = 'ACTIVE';
