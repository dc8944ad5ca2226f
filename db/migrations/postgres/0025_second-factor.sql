CREATE TABLE "second_factors" (
	"user_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"sealed_secret" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"confirmed_at" bigint,
	"last_step" integer,
	"recovery_hashes" text NOT NULL,
	"wrong_codes" integer NOT NULL,
	"shut_until" bigint
);
--> statement-breakpoint
ALTER TABLE "second_factors" ADD CONSTRAINT "second_factors_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;