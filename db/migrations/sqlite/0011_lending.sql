CREATE TABLE `lender_status_history` (
	`id` text PRIMARY KEY NOT NULL,
	`lender_id` text NOT NULL,
	`position` integer NOT NULL,
	`status` text NOT NULL,
	`actor` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`lender_id`) REFERENCES `lenders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `lender_status_history_position` ON `lender_status_history` (`lender_id`,`position`);--> statement-breakpoint
CREATE TABLE `lenders` (
	`id` text PRIMARY KEY NOT NULL,
	`display_name` text NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `lenders_status` ON `lenders` (`status`,`id`);--> statement-breakpoint
CREATE TABLE `lending_applications` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`cohort` text NOT NULL,
	`tier` text NOT NULL,
	`status` text NOT NULL,
	`requested_amount_usd` integer,
	`requested_term_months` integer,
	`purpose_code` text,
	`selected_tier1_partner` text,
	`selected_tier2_partner` text,
	`reason` text,
	`partner_external_ref` text,
	`submitted_at` integer,
	`decided_at` integer,
	`queued_at` integer NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	`documentation_completed` text,
	FOREIGN KEY (`merchant_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `lending_applications_merchant` ON `lending_applications` (`merchant_id`,`id`);--> statement-breakpoint
CREATE INDEX `lending_queue` ON `lending_applications` (`status`,`queued_at`,`id`);--> statement-breakpoint
CREATE INDEX `lending_queue_tier` ON `lending_applications` (`status`,`tier`,`queued_at`,`id`);--> statement-breakpoint
CREATE INDEX `lending_queue_cohort` ON `lending_applications` (`status`,`cohort`,`queued_at`,`id`);--> statement-breakpoint
CREATE INDEX `lending_queue_partner1` ON `lending_applications` (`status`,`selected_tier1_partner`,`queued_at`,`id`) WHERE selected_tier1_partner is not null;--> statement-breakpoint
CREATE INDEX `lending_queue_partner2` ON `lending_applications` (`status`,`selected_tier2_partner`,`queued_at`,`id`) WHERE selected_tier2_partner is not null;--> statement-breakpoint
CREATE INDEX `lending_queue_tier_partner1` ON `lending_applications` (`status`,`tier`,`selected_tier1_partner`,`queued_at`,`id`) WHERE selected_tier1_partner is not null;--> statement-breakpoint
CREATE INDEX `lending_queue_tier_partner2` ON `lending_applications` (`status`,`tier`,`selected_tier2_partner`,`queued_at`,`id`) WHERE selected_tier2_partner is not null;--> statement-breakpoint
CREATE INDEX `lending_queue_cohort_partner1` ON `lending_applications` (`status`,`cohort`,`selected_tier1_partner`,`queued_at`,`id`) WHERE selected_tier1_partner is not null;--> statement-breakpoint
CREATE INDEX `lending_queue_cohort_partner2` ON `lending_applications` (`status`,`cohort`,`selected_tier2_partner`,`queued_at`,`id`) WHERE selected_tier2_partner is not null;--> statement-breakpoint
CREATE TABLE `lending_decisions` (
	`id` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`decision` text NOT NULL,
	`assessment` text,
	`envelope` text,
	`rule_version` text,
	`actor` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`application_id`) REFERENCES `lending_applications`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `lending_decisions_application` ON `lending_decisions` (`application_id`,`id`);--> statement-breakpoint
CREATE TABLE `lending_documents` (
	`id` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`key` text NOT NULL,
	`store` text NOT NULL,
	`storage_name` text NOT NULL,
	`mime_type` text NOT NULL,
	`size` integer NOT NULL,
	`hash` text NOT NULL,
	`original_name` text,
	`sealed_key` text NOT NULL,
	`uploaded_by` text NOT NULL,
	`uploaded_at` integer NOT NULL,
	FOREIGN KEY (`application_id`) REFERENCES `lending_applications`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `lending_documents_key` ON `lending_documents` (`application_id`,`key`);--> statement-breakpoint
CREATE UNIQUE INDEX `lending_documents_storage` ON `lending_documents` (`storage_name`);--> statement-breakpoint
CREATE TABLE `lending_events` (
	`id` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`position` integer NOT NULL,
	`type` text NOT NULL,
	`from_status` text,
	`to_status` text NOT NULL,
	`actor` text NOT NULL,
	`subject` text,
	`reason` text,
	`partner_external_ref` text,
	`at` integer NOT NULL,
	FOREIGN KEY (`application_id`) REFERENCES `lending_applications`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `lending_events_position` ON `lending_events` (`application_id`,`position`);--> statement-breakpoint
CREATE TABLE `merchant_default_days` (
	`merchant_id` text NOT NULL,
	`day` integer NOT NULL,
	`defaults` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `day`),
	FOREIGN KEY (`merchant_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `merchant_repayment_signals` (
	`merchant_id` text PRIMARY KEY NOT NULL,
	`total_on_time` integer NOT NULL,
	`total_late` integer NOT NULL,
	`total_defaults` integer NOT NULL,
	`lender_count` integer NOT NULL,
	`most_recent_settlement_at` integer,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`merchant_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `repayment_reversals` (
	`id` text PRIMARY KEY NOT NULL,
	`repayment_id` text NOT NULL,
	`reason` text NOT NULL,
	`recorded_by` text NOT NULL,
	`recorded_at` integer NOT NULL,
	FOREIGN KEY (`repayment_id`) REFERENCES `repayments`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `repayment_reversals_repayment` ON `repayment_reversals` (`repayment_id`);--> statement-breakpoint
CREATE TABLE `repayments` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`lender_id` text NOT NULL,
	`loan_ref` text NOT NULL,
	`outcome` text NOT NULL,
	`amount_usd` integer NOT NULL,
	`due_at` integer NOT NULL,
	`settled_at` integer,
	`dated_at` integer NOT NULL,
	`source` text NOT NULL,
	`recorded_by` text NOT NULL,
	`recorded_at` integer NOT NULL,
	`reversed_at` integer,
	FOREIGN KEY (`merchant_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`lender_id`) REFERENCES `lenders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `repayments_key` ON `repayments` (`lender_id`,`loan_ref`,`due_at`) WHERE reversed_at is null;--> statement-breakpoint
CREATE INDEX `repayments_merchant` ON `repayments` (`merchant_id`,`id`);--> statement-breakpoint
CREATE INDEX `repayments_defaults` ON `repayments` (`merchant_id`,`dated_at`) WHERE outcome = 'DEFAULT' and reversed_at is null;--> statement-breakpoint
CREATE INDEX `repayments_merchant_lender` ON `repayments` (`merchant_id`,`lender_id`) WHERE reversed_at is null;--> statement-breakpoint
CREATE INDEX `repayments_settled` ON `repayments` (`merchant_id`,`settled_at`) WHERE reversed_at is null;