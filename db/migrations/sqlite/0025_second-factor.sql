CREATE TABLE `second_factors` (
	`user_id` text PRIMARY KEY NOT NULL,
	`sealed_secret` text NOT NULL,
	`created_at` integer NOT NULL,
	`confirmed_at` integer,
	`last_step` integer,
	`recovery_hashes` text NOT NULL,
	`wrong_codes` integer NOT NULL,
	`shut_until` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
